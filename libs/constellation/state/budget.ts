import { type Budget, NO_USAGE, type TaskStar, type Usage } from '#proto';
import { hasPlan, type Run } from './run.js';
import type { TaskState } from './task.js';

export const BOUNDS = ['llmCalls', 'tokens', 'commands', 'costUsd'] as const;
export type Bound = (typeof BOUNDS)[number];

/** What an exact command uses up. */
export const ONE_COMMAND: Budget = { commands: 1 };

/** Prices are fractions: what is left of them after adding and taking off is never exact. */
const EPSILON = 1e-9;

export function plus(one: Usage, other: Budget): Usage {
  return {
    llmCalls: one.llmCalls + (other.llmCalls ?? 0),
    tokens: one.tokens + (other.tokens ?? 0),
    commands: one.commands + (other.commands ?? 0),
    costUsd: one.costUsd + (other.costUsd ?? 0),
  };
}

export function minus(one: Usage, other: Budget): Usage {
  const costUsd = one.costUsd - (other.costUsd ?? 0);
  return {
    llmCalls: one.llmCalls - (other.llmCalls ?? 0),
    tokens: one.tokens - (other.tokens ?? 0),
    commands: one.commands - (other.commands ?? 0),
    costUsd: costUsd < EPSILON ? 0 : costUsd,
  };
}

/** What is left of a budget of which some was used: less than nothing is nothing. */
export function within(budget: Budget, used: Usage): Budget {
  const left: Budget = {};
  for (const bound of BOUNDS) {
    const given = budget[bound];
    if (given !== undefined) left[bound] = Math.max(0, given - used[bound]);
  }
  return left;
}

/** Within what fractions allow. */
export function sameUsage(one: Usage, other: Usage): boolean {
  return BOUNDS.every((bound) => Math.abs(one[bound] - other[bound]) <= EPSILON);
}

/** Bounds of a run's budget that are exceeded by what was used and what is given to running attempts. */
export function exceeded({ request, used, granted }: Pick<Run, 'request' | 'used' | 'granted'>): Bound[] {
  const cap = request?.options.budget ?? {};
  return BOUNDS.filter((bound) => used[bound] + granted[bound] > (cap[bound] ?? Infinity) + EPSILON);
}

/** An agent's task thinks and acts; an exact one makes its one call. */
export function isAgentTask({ command }: Pick<TaskStar, 'command'>): boolean {
  return command === undefined;
}

/** What an attempt is taken to have used of which nobody said it: all that it might have. */
export function allOf({ slice, star }: TaskState): Usage | undefined {
  return slice === null || !isAgentTask(star) ? undefined : plus(NO_USAGE, slice);
}

/** Somebody works who may give back a part of what was given out. */
export function mayGetMore({ running, editing }: Pick<Run, 'running' | 'editing'>): boolean {
  return running.size > 0 || (editing !== null && editing.budget !== null);
}

/** What a planner uses up: it runs no commands. */
const PLANNED = ['llmCalls', 'tokens', 'costUsd'] as const;

/** Of what a planner's model needs something is used up for good. */
function isSpentOnPlans({ request, used }: Pick<Run, 'request' | 'used'>): boolean {
  const cap = request?.options.budget ?? {};
  return PLANNED.some((bound) => (cap[bound] ?? Infinity) - used[bound] <= EPSILON);
}

/**
 * What the planner may use up in the next round: all that is left, at most half of it where agents of this run have still to
 * start. Undefined when the run has no such bound; null when all of it is given out for now. A first plan has what there is,
 * and be it nothing: a runbook needs none of it.
 */
export function budgetOfRound(run: Run): Budget | undefined | null {
  const { request, used, granted, agentsPending } = run;
  const cap = request?.options.budget ?? {};
  const budget: Budget = {};
  for (const bound of PLANNED) {
    const limit = cap[bound];
    if (limit === undefined) continue;
    const left = Math.max(0, limit - used[bound] - granted[bound]);
    if (left <= EPSILON && hasPlan(run)) return null;
    if (agentsPending === 0) budget[bound] = left;
    else budget[bound] = bound === 'costUsd' ? left / 2 : Math.max(1, Math.floor(left / 2));
  }
  return Object.keys(budget).length === 0 ? undefined : budget;
}

/** What is left of a run's budget while a commit gives it out. */
export class Purse {
  readonly #left: Map<Bound, number>;
  #waiting: number;

  constructor({ request, used, granted, agentsPending }: Run) {
    const cap = request?.options.budget ?? {};
    this.#waiting = agentsPending;
    this.#left = new Map(
      BOUNDS.flatMap((bound) => {
        const limit = cap[bound];
        return limit === undefined ? [] : [[bound, limit - used[bound] - granted[bound]] as const];
      }),
    );
  }

  /** The bounds of which nothing is left for a task to start with. */
  lacking(star: TaskStar): Bound[] {
    if (this.#left.size === 0) return [];
    const needed = isAgentTask(star) ? BOUNDS : (['commands'] as const);
    return needed.filter((bound) => (this.#left.get(bound) ?? Infinity) <= EPSILON);
  }

  /** Takes the part of the next task: an equal share of what is left among the agents' tasks that are still to start. */
  take(star: TaskStar): Budget | undefined {
    if (this.#left.size === 0) return undefined;
    const slice: Budget = {};
    if (isAgentTask(star)) {
      const sharers = Math.max(1, this.#waiting--);
      for (const [bound, left] of this.#left)
        slice[bound] = bound === 'costUsd' ? left / sharers : Math.ceil(left / sharers);
    } else if (this.#left.has('commands')) slice.commands = 1;
    for (const [bound, left] of this.#left) this.#left.set(bound, left - (slice[bound] ?? 0));
    return isAgentTask(star) ? slice : undefined;
  }
}

/**
 * Whether a planner is still asked. Not when nothing is left for its model, nor when that was asked as often as it may be: what
 * needs no model changes nothing, so the run goes on, and ends, as the planner would say by rule. A first plan is always asked for.
 */
export function asksPlanner(run: Pick<Run, 'revision' | 'noMoreRounds' | 'request' | 'used'>): boolean {
  return !hasPlan(run) || (run.noMoreRounds === null && !isSpentOnPlans(run));
}
