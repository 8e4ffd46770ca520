import type { Agent } from './agent.js';
import type { AttemptContext } from './attempt-context.js';
import type { Effect, EffectOutcome } from '../effects/index.js';

/** What a piece of an agent's work is: it yields effects, is given their outcomes, and returns a value. */
export type Work<T> = Generator<Effect, T, EffectOutcome>;

/**
 * One state of an agent's state machine (paper section 8.3). A state holds nothing of an attempt, so that one object serves
 * every attempt; what is remembered is in the agent and in the context of the attempt.
 */
export interface AgentState<G extends object = object> {
  readonly name: string;
  /** Does what is to be done in this state; most run a processor, final ones do nothing or clean up. */
  handle(agent: Agent<G>, context: AttemptContext<G>): Work<void>;
  /** In which state the next agent goes on. */
  nextState(agent: Agent<G>, context: AttemptContext<G>): AgentState<G>;
  /** Who goes on: the same agent, one that work is delegated to, or the one that had delegated it. */
  nextAgent(agent: Agent<G>, context: AttemptContext<G>): Agent<G>;
  /** The task is over, well or not. */
  isRoundEnd(): boolean;
  /** What this agent was asked to do is over; the task need not be. */
  isSubtaskEnd(): boolean;
}
