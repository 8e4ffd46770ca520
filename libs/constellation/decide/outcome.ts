import type { RunEventData, RunOutcome } from '#proto';
import { hasNotDelivered, recoveriesOf } from '../edits/index.js';
import type { Run, RunEnding } from '../state/index.js';

/** What a run comes to when nothing of it is pending and nothing runs. The table of docs/constellation.md. */
export type PlanOutcome =
  | { readonly kind: 'completed'; readonly outcome: RunOutcome }
  | { readonly kind: 'failed'; readonly reason: RunEventData<'RUN_FAILED'>['reason'] }
  | { readonly kind: 'cancelled' };

/** `ending`: why its end was begun before its plan had ended; null when its plan has. */
export function runOutcomeOf(run: Pick<Run, 'tasks' | 'graph' | 'counts'>, ending: RunEnding | null): PlanOutcome {
  switch (ending?.reason) {
    case 'run_deadline':
      return failed('DEADLINE', 'the deadline of the run passed before all tasks had ended');
    case 'plan_failed':
      return failed('PLAN_FAILED', ending.note ?? 'the planner gave the request up');
    case 'budget':
      return failed('BUDGET_EXHAUSTED', ending.note ?? 'the budget of the run is used up');
    case 'cancelled':
      return { kind: 'cancelled' };
    default:
      return byTasks(run, ending?.reason === 'finished');
  }
}

/** `finished`: the planner has said that what is still pending is not needed. */
function byTasks({ tasks, graph, counts }: Pick<Run, 'tasks' | 'graph' | 'counts'>, finished: boolean): PlanOutcome {
  const isEmpty = finished && tasks.length === 0;
  if (counts.COMPLETED === 0 && !isEmpty) return failed('NO_TASK_COMPLETED', 'no task completed');
  const recovered = recoveriesOf({ tasks, graph });
  const lacking = [...tasks].some(
    (task) => hasNotDelivered(task) && !recovered.has(task.star.id) && !(finished && task.status === 'CANCELLED'),
  );
  return { kind: 'completed', outcome: lacking ? 'partially_failed' : 'succeeded' };
}

function failed(code: string, message: string): PlanOutcome {
  return { kind: 'failed', reason: { code, message } };
}
