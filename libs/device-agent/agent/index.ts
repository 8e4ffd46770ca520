/**
 * The machinery of an agent: states, processors with their phases, the context of an attempt, the session that runs it to its end. What one kind of
 * agent does in a phase is a strategy.
 */
export * from './agent.js';
export * from './attempt-context.js';
export * from './failure.js';
export * from './middleware.js';
export type { PhasePlan, ProcessorPlan } from './processor-plan.js';
export * from './processor.js';
export * from './session.js';
export * from './state-registry.js';
export * from './state.js';
export * from './states.js';
export * from './strategy.js';
