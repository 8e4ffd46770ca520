import type { PlanCommit, PlanEvent, RunId } from '#proto';
import { jsonBytes } from '#libs/constellation';
import { Aggregates, type AggregateKind, type PlanLog } from '#libs/event-log';
import { evolvePlan, NO_PLAN, type PlanState } from '#libs/planner';
import type { Clock } from '#libs/platform';

export const PLANNER_SERVICE = 'planner';

/** The plans of one run as they are stored. */
export interface StoredPlan {
  readonly state: PlanState;
  readonly commits: readonly PlanCommit[];
  /** Of all commits, as JSON. */
  readonly bytes: number;
}

const PLANS: AggregateKind<RunId, PlanCommit, StoredPlan> = {
  name: (runId) => `the plans of run ${runId}`,
  ownerOf: (runId) => ({ runId }),
  nothing: () => ({ state: NO_PLAN, commits: [], bytes: 0 }),
  follow: (plan, stored) => {
    const added = stored.map(({ commit }) => commit);
    return {
      state: added.reduce(evolvePlan, plan.state),
      commits: [...plan.commits, ...added],
      bytes: added.reduce((sum, commit) => sum + jsonBytes(commit), plan.bytes),
    };
  },
};

export interface PlanCommitsOptions {
  readonly plans: PlanLog;
  readonly clock: Clock;
  readonly instance: string;
}

/** The only writer of PLANS. */
export class PlanCommits extends Aggregates<RunId, PlanCommit, PlanEvent, StoredPlan> {
  constructor({ plans, clock, instance }: PlanCommitsOptions) {
    super(PLANS, { log: plans, clock, by: { service: PLANNER_SERVICE, instance } });
  }
}
