import type { Agent } from './agent.js';
import type { AttemptContext } from './attempt-context.js';
import { errorText, failureOf } from './failure.js';
import { observe, type Middleware, type Moment } from './middleware.js';
import { placed, planProblems, type PlanInputs, type Placed, type ProcessorPlan } from './processor-plan.js';
import type { Work } from './state.js';
import type { Key } from './strategy.js';
import { CONTINUE } from './states.js';

/** What runs in a state: the strategies of a round, phase by phase. Put together once, used by every attempt. */
export class Processor<V extends object, G extends object = object> {
  readonly name: string;
  readonly #order: readonly Placed<V, G>[];
  readonly #inputs: PlanInputs<V, G>;
  readonly #finalise: readonly (keyof V & keyof G)[];
  readonly #middleware: readonly Middleware[];

  /** Throws a ProcessorError that names everything that does not fit together. */
  constructor(plan: ProcessorPlan<V, G>) {
    const problems = planProblems(plan);
    if (problems.length > 0) throw new ProcessorError(plan.name, problems);
    this.name = plan.name;
    this.#order = placed(plan);
    this.#inputs = plan.inputs;
    this.#finalise = plan.finalise ?? [];
    this.#middleware = plan.middleware ?? [];
  }

  /** One round. Afterwards the agent has decided where to go: on, unless a strategy decided something else. */
  *process(agent: Agent<G>, context: AttemptContext<G>): Work<void> {
    const at = { agent: agent.name, processor: this.name, phase: null, strategy: null, context };
    const watched = observe(this.#middleware, at);
    agent.decide(CONTINUE);
    const values = this.#begin(agent, context);
    for (const place of this.#order) {
      const fatal = yield* this.#run(place, values, { agent, context });
      if (fatal !== null) {
        agent.fail(failureOf(fatal.error));
        break;
      }
    }
    this.#handOn(values, context);
    if (agent.failure === null) watched.done();
    else watched.failed(new Error(agent.failure.message));
  }

  #begin(agent: Agent<G>, context: AttemptContext<G>): Partial<V> {
    const values: Partial<V> = {};
    for (const key of Object.keys(this.#inputs) as Key<V>[]) {
      const read = this.#inputs[key];
      if (read !== undefined) values[key] = read(agent, context);
    }
    return values;
  }

  /** Gives the error when the round cannot go on. */
  *#run(
    { phase, failFast, strategy }: Placed<V, G>,
    values: Partial<V>,
    at: { agent: Agent<G>; context: AttemptContext<G> },
  ): Work<{ readonly error: unknown } | null> {
    const moment: Moment = {
      agent: at.agent.name,
      processor: this.name,
      phase,
      strategy: strategy.name,
      context: at.context,
    };
    const watched = observe(this.#middleware, moment);
    // The plan was checked: every value is there.
    const given = pick(values, strategy.dependsOn) as V;
    try {
      const provided = yield* strategy.execute(at, given);
      const absent = strategy.provides.filter((key) => provided[key] === undefined);
      if (absent.length > 0) throw new Error(`${strategy.name} did not provide ${absent.join(', ')}`);
      const declared = pick(provided, strategy.provides);
      Object.assign(values, declared);
      watched.done({ ...declared });
      return null;
    } catch (error) {
      watched.failed(error);
      if (failFast) return { error };
      at.agent.trouble(`${phase} went wrong in ${strategy.name}: ${errorText(error)}`);
      Object.assign(values, strategy.fallback?.(given) ?? {});
      return null;
    }
  }

  #handOn(values: Partial<V>, context: AttemptContext<G>): void {
    for (const key of this.#finalise) {
      const value = values[key];
      // Checked by the type of `finalise`: a value of the round is one of the attempt.
      if (value !== undefined) context.set(key, value as V[typeof key] & G[typeof key]);
    }
  }
}

/** A processor that was put together wrongly. */
export class ProcessorError extends Error {
  override readonly name = 'ProcessorError';
  readonly problems: readonly string[];

  constructor(processor: string, problems: readonly string[]) {
    super(`${processor} does not fit together: ${problems.join('; ')}`);
    this.problems = problems;
  }
}

function pick<V extends object>(values: Partial<V>, keys: readonly (keyof V)[]): Partial<V> {
  const picked: Partial<V> = {};
  for (const key of keys) {
    const value = values[key];
    if (value !== undefined) picked[key] = value;
  }
  return picked;
}
