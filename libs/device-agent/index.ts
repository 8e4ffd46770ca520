/**
 * Agents of devices: how one is put together, what it wants done, what it remembers, what its model is told, and the one that comes with the
 * product. Agents wait for nothing and touch nothing; whoever carries an attempt out does.
 */
export * from './effects/effect.js';
export * from './agent/state.js';
export * from './agent/states.js';
export * from './agent/state-registry.js';
export * from './agent/strategy.js';
export { type PhasePlan, type ProcessorPlan } from './agent/processor-plan.js';
export * from './agent/processor.js';
export * from './agent/middleware.js';
export * from './agent/failure.js';
export * from './agent/attempt-context.js';
export * from './agent/agent.js';
export * from './agent/session.js';
export * from './strategies/effects.js';
export * from './strategies/values.js';
export * from './strategies/own-tools.js';
export * from './strategies/llm-interaction.js';
export * from './strategies/action-execution.js';
export * from './strategies/memory-update.js';
export * from './agents/linux-agent.js';
export * from './memory/blackboard.js';
export * from './memory/memory.js';
export * from './prompter/index.js';
/** For tests of agents: a scripted driver, samples, and the two agents of a desktop. */
export * as testing from './testing/index.js';
