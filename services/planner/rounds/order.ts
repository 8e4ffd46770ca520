import type { Budget, EditId, PlanCommit, RunCommit, RunId, Usage } from '#proto';
import { NO_USAGE, addUsage } from '#proto';

/** One try of an edit round: what one commit of a run asks the planner for. Each try is asked for by exactly one commit. */
export interface RoundOrder {
  readonly runId: RunId;
  readonly editId: EditId;
  readonly try: number;
  /** The commit that asks: the cause of all that follows. */
  readonly commit: string;
}

export const ROUND_TYPES = ['EDIT_OPENED', 'EDIT_REJECTED'] as const;
export const END_TYPES = ['RUN_COMPLETED', 'RUN_FAILED'] as const;

/** What the commit asks for; undefined when it opens no round, or ends the one that it opened or refused. */
export function orderOf({ runId, commit, events }: RunCommit): RoundOrder | undefined {
  let order: RoundOrder | undefined;
  for (const event of events) {
    if (event.type === 'EDIT_OPENED') order = { runId, editId: event.data.editId, try: 1, commit };
    if (event.type === 'EDIT_REJECTED') order = { runId, editId: event.data.editId, try: event.data.try + 1, commit };
    if (event.type === 'EDIT_ABANDONED' || event.type === 'CONSTELLATION_MODIFIED') {
      if (event.data.editId === order?.editId) order = undefined;
    }
  }
  return order;
}

/** Whether the run has ended by itself in this commit: only then there is something to judge. */
export function endsRun({ events }: RunCommit): boolean {
  return events.some(({ type }) => type === 'RUN_COMPLETED' || type === 'RUN_FAILED');
}

/** What a round may use up in all; undefined without a bound. */
export function budgetOf(commits: readonly RunCommit[], editId: EditId): Budget | undefined {
  for (const { events } of commits.toReversed()) {
    for (const event of events) {
      if (event.type === 'EDIT_OPENED' && event.data.editId === editId) return event.data.budget;
    }
  }
  return undefined;
}

/** What earlier tries of a round have used up. */
export function usedInRound(plans: readonly PlanCommit[], editId: EditId): Usage {
  const used = plans.flatMap(({ events }) =>
    events.flatMap((event): Usage[] => {
      if (event.type === 'PLAN_PROPOSED' && event.data.proposal.editId === editId) return [event.data.used];
      if (event.type === 'ROUND_FAILED' && event.data.editId === editId) return [event.data.used];
      return [];
    }),
  );
  return used.length === 0 ? NO_USAGE : addUsage(...used);
}
