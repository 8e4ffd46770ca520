/**
 * The machinery of an agent: states, processors with their phases, the context of an attempt, the session that runs it to its end. What one kind of
 * agent does in a phase is a strategy.
 */
export type { AgentPrompter } from './agent.js';
export { AgentFailure, CODES, failed } from './failure.js';
export type { Middleware } from './middleware.js';
export { Processor } from './processor.js';
export { singleAgent } from './session.js';
export { StateRegistry } from './state-registry.js';
export type { Work } from './state.js';
export { CONTINUE, FAIL, FINISH, continueState, failState, finishState } from './states.js';
export { strategyOf } from './strategy.js';
export type { Strategy, StrategyCall } from './strategy.js';
