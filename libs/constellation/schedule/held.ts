import { descendantsOf } from '../plan/index.js';
import { asksPlanner, hasPlan, lockPolicyOf, type Run } from '../state/index.js';

const NOBODY = () => false;
const EVERYBODY = () => true;

/**
 * The safe assignment lock (paper section 6.3): which PENDING tasks neither start nor are skipped while an edit is open or
 * owed. Under `strict` all of them, under `scoped` those downstream of what the planner has not judged yet. A planner that
 * let a deadline pass holds nothing until it speaks again, and one that is not asked any more is not waited for.
 */
export function isHeld(run: Run): (index: number) => boolean {
  const { editing, graph, queued, plannerSilent } = run;
  if (!hasPlan(run) || plannerSilent || (editing === null && queued.length === 0)) return NOBODY;
  if (editing === null && !asksPlanner(run)) return NOBODY;
  if ((editing?.lockPolicy ?? lockPolicyOf(run)) === 'strict') return EVERYBODY;
  const triggers = [...(editing?.triggers ?? []), ...queued];
  const from = triggers.flatMap((trigger) =>
    trigger.kind === 'task' ? (graph.taskIndex.get(trigger.taskId) ?? []) : [],
  );
  if (from.length === 0) return NOBODY;
  const downstream = descendantsOf(graph, from);
  return (index) => downstream[index] === 1;
}
