import { GENESIS_HASH, type Cause, type PlanCommit, type PlanEvent, type RunId } from '#proto';
import { jsonBytes } from '#libs/constellation';
import { newCommitId, readOn, sealCommit, type PlanLog, type Stored } from '#libs/event-log';
import { evolvePlan, NO_PLAN, type PlanState } from '#libs/planner';
import type { Clock } from '#libs/platform';

export const SERVICE = 'planner';

/** Appends for one piece of work that may lose against another writer before it is given up and begun again from the message. */
export const CONFLICTS_MAX = 16;

/** Others kept writing to the plans of the run; the message comes again. */
export class ContendedError extends Error {
  override readonly name = 'ContendedError';
  constructor(runId: RunId) {
    super(`The plans of run ${runId} were changed ${CONFLICTS_MAX} times meanwhile.`);
  }
}

/** The plans of one run as they are stored, and where their chain ends: what the next commit goes on from. */
export interface StoredPlan {
  readonly runId: RunId;
  readonly state: PlanState;
  readonly commits: readonly PlanCommit[];
  /** Stream sequence of the last message; 0 for none. */
  readonly end: number;
  /** Commits and events so far. */
  readonly number: number;
  readonly sequence: number;
  readonly hash: string;
  /** Of all commits, as JSON. */
  readonly bytes: number;
}

export interface PlanCommitsOptions {
  readonly plans: PlanLog;
  readonly clock: Clock;
  readonly instance: string;
}

/** The only writer of PLANS. */
export class PlanCommits {
  readonly #options: PlanCommitsOptions;

  constructor(options: PlanCommitsOptions) {
    this.#options = options;
  }

  /** The plans as they are stored now. Of `known`, an earlier state of them, only what has come since is read. Throws when they cannot be read. */
  async load(runId: RunId, known?: StoredPlan): Promise<StoredPlan> {
    const { anew, stored } = await readOn(this.#options.plans, runId, lastOf(known));
    return follow(known === undefined || anew ? nothingOf(runId) : known, stored);
  }

  /** Stores what was decided on this state of the plans; null when somebody else wrote meanwhile. */
  async append(stored: StoredPlan, events: readonly PlanEvent[], cause: Cause): Promise<StoredPlan | null> {
    const { plans, clock, instance } = this.#options;
    const { runId, end } = stored;
    const now = clock.now();
    const id = newCommitId(now);
    const recorded = events.map((event, index) => ({
      id: `${id}.${index}`,
      sequence: stored.sequence + index + 1,
      schemaVersion: 1,
      ...event,
    }));
    const draft = {
      commit: id,
      number: stored.number + 1,
      at: new Date(now).toISOString(),
      by: { service: SERVICE, instance },
      causes: [cause],
      runId,
      events: recorded,
    };
    const commit: PlanCommit = sealCommit(draft, stored.hash);
    const appended = await plans.append(runId, commit, end);
    if (appended.kind === 'conflict') return null;
    // A copy: the bytes that a sealed commit is stored as stay in memory as long as it does.
    return follow(stored, [{ commit: { ...commit }, sequence: appended.sequence }]);
  }
}

function nothingOf(runId: RunId): StoredPlan {
  return { runId, state: NO_PLAN, commits: [], end: 0, number: 0, sequence: 0, hash: GENESIS_HASH, bytes: 0 };
}

function lastOf(plan: StoredPlan | undefined): Stored<PlanCommit> | null {
  const commit = plan?.commits.at(-1);
  return plan === undefined || commit === undefined ? null : { commit, sequence: plan.end };
}

/** The plans with the commits that follow; what is given stays as it was. */
function follow(plan: StoredPlan, stored: readonly Stored<PlanCommit>[]): StoredPlan {
  const added = stored.map(({ commit }) => commit);
  const last = stored.at(-1);
  if (last === undefined) return plan;
  return {
    runId: plan.runId,
    state: added.reduce(evolvePlan, plan.state),
    commits: [...plan.commits, ...added],
    end: last.sequence,
    number: last.commit.number,
    sequence: last.commit.events.at(-1)?.sequence ?? plan.sequence,
    hash: last.commit.hash,
    bytes: added.reduce((sum, commit) => sum + jsonBytes(commit), plan.bytes),
  };
}
