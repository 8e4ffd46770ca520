import { GENESIS_HASH, type Cause, type PlanCommit, type PlanEvent, type RunId } from '#proto';
import { newCommitId, sealCommit, type PlanLog } from '#libs/event-log';
import { foldPlan, type PlanState } from '#libs/planner';
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

  async load(runId: RunId): Promise<StoredPlan> {
    const stored = await this.#options.plans.load(runId);
    const commits = stored.map(({ commit }) => commit);
    return planOf(runId, commits, stored.at(-1)?.sequence ?? 0);
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
    return planOf(runId, [...stored.commits, commit], appended.sequence);
  }
}

function planOf(runId: RunId, commits: readonly PlanCommit[], end: number): StoredPlan {
  const last = commits.at(-1);
  return {
    runId,
    state: foldPlan(commits),
    commits,
    end,
    number: last?.number ?? 0,
    sequence: last?.events.at(-1)?.sequence ?? 0,
    hash: last?.hash ?? GENESIS_HASH,
  };
}
