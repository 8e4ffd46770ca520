import type { Agent } from './agent.js';
import type { AttemptContext } from './attempt-context.js';
import type { Work } from './state.js';

/** The phases of a round, in their order (paper section 8.4). */
export const PHASES = ['DATA_COLLECTION', 'LLM_INTERACTION', 'ACTION_EXECUTION', 'MEMORY_UPDATE'] as const;
export type Phase = (typeof PHASES)[number];

/**
 * One piece of a round (paper section 8.4): takes the values that it depends on, works, and gives the values that it
 * provides. `V` names all values of a round and their types, `G` what the agents of an attempt share.
 */
export interface Strategy<V extends object, G extends object = object> {
  readonly name: string;
  readonly dependsOn: readonly Key<V>[];
  readonly provides: readonly Key<V>[];
  /** `given` holds what `dependsOn` names and nothing else. */
  execute(at: StrategyCall<G>, given: V): Work<Partial<V>>;
  /** What it provides when it failed in a phase that goes on; needed there if others depend on what it provides. */
  fallback?(given: V): Partial<V>;
}

export interface StrategyCall<G extends object = object> {
  readonly agent: Agent<G>;
  readonly context: AttemptContext<G>;
}

export type Key<V extends object> = keyof V & string;

interface StrategyOf<V extends object, G extends object, In extends Key<V>, Out extends Key<V>> {
  readonly name: string;
  readonly dependsOn: readonly In[];
  readonly provides: readonly Out[];
  execute(at: StrategyCall<G>, given: Pick<V, In>): Work<Pick<V, Out>>;
  fallback?(given: Pick<V, In>): Pick<V, Out>;
}

/**
 * Makes strategies over the values `V`: what a strategy takes and gives is checked against what it declares.
 * `strategyOf<V>()({ name, dependsOn: ['a'], provides: ['b'], *execute(at, { a }) { return { b } } })`
 */
export const strategyOf =
  <V extends object, G extends object = object>() =>
  <const In extends Key<V>, const Out extends Key<V>>(strategy: StrategyOf<V, G, In, Out>): Strategy<V, G> =>
    // What it gives and takes is a part of V by its own type; that a part of V fits Partial<V> is beyond the compiler here.
    strategy as unknown as Strategy<V, G>;
