import type { Agent } from './agent.js';
import type { AttemptContext } from './attempt-context.js';
import type { Middleware } from './middleware.js';
import { PHASES, type Key, type Phase, type Strategy } from './strategy.js';

export interface PhasePlan<V extends object, G extends object = object> {
  /** In the order in which they run. */
  readonly strategies: readonly Strategy<V, G>[];
  /** True: an error ends the round in FAIL. False: it is noted, and the round goes on. */
  readonly failFast: boolean;
}

/** The values that are there before the first strategy, each read when the round begins. */
export type PlanInputs<V extends object, G extends object = object> = {
  readonly [K in keyof V]?: (agent: Agent<G>, context: AttemptContext<G>) => V[K];
};

/** Values of a round that may be handed on to what the agents of the attempt share: same name, same type. */
export type Shared<V extends object, G extends object> = {
  [K in keyof V & keyof G]: V[K] extends G[K] ? K : never;
}[keyof V & keyof G] &
  string;

export interface ProcessorPlan<V extends object, G extends object = object> {
  readonly name: string;
  readonly inputs: PlanInputs<V, G>;
  readonly phases: { readonly [P in Phase]?: PhasePlan<V, G> };
  readonly middleware?: readonly Middleware[];
  /** What a round leaves behind in the context of the attempt. */
  readonly finalise?: readonly Shared<V, G>[];
}

/** A strategy with the place that it has in the plan. */
export interface Placed<V extends object, G extends object> {
  readonly phase: Phase;
  readonly failFast: boolean;
  readonly strategy: Strategy<V, G>;
}

export function placed<V extends object, G extends object>({ phases }: ProcessorPlan<V, G>): readonly Placed<V, G>[] {
  return PHASES.flatMap((phase) => {
    const { strategies, failFast } = phases[phase] ?? { strategies: [], failFast: true };
    return strategies.map((strategy) => ({ phase, failFast, strategy }));
  });
}

/** Everything that is wrong with a plan; empty when every value has exactly one provider that runs before it is needed. */
export function planProblems<V extends object, G extends object>(plan: ProcessorPlan<V, G>): readonly string[] {
  const order = placed(plan);
  const provided = (key: Key<V>) => order.filter(({ strategy }) => strategy.provides.includes(key));
  const isInput = (key: Key<V>) => plan.inputs[key] !== undefined;
  const keys = [...new Set(order.flatMap(({ strategy }) => strategy.provides))];
  const twice = keys.flatMap((key) => {
    const providers = provided(key).map(say);
    if (isInput(key)) providers.unshift('the inputs');
    return providers.length > 1 ? [`"${key}" is provided by ${providers.join(' and by ')}`] : [];
  });
  const needs = order.flatMap((user, position) =>
    user.strategy.dependsOn.flatMap((key) => {
      const [provider] = provided(key);
      if (isInput(key)) return [];
      if (provider === undefined) return [`${say(user)} needs "${key}", which nobody provides`];
      if (order.indexOf(provider) >= position) {
        return [`${say(user)} needs "${key}", which ${say(provider)} provides only afterwards`];
      }
      if (provider.failFast || provider.strategy.fallback !== undefined) return [];
      return [`${say(user)} needs "${key}" of ${say(provider)}, which may fail there: it needs a fallback`];
    }),
  );
  const lost = (plan.finalise ?? []).flatMap((key) =>
    isInput(key) || keys.includes(key) ? [] : [`"${key}" is to be handed on, and nobody provides it`],
  );
  return [...sameNames(order), ...twice, ...needs, ...lost];
}

function sameNames<V extends object, G extends object>(order: readonly Placed<V, G>[]): string[] {
  const names = order.map(({ strategy }) => strategy.name);
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  return [...new Set(twice)].map((name) => `there are two strategies with the name "${name}"`);
}

const say = <V extends object, G extends object>({ phase, strategy }: Placed<V, G>): string =>
  `${strategy.name} (${phase})`;
