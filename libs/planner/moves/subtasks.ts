import { type Evaluation, LIMITS, type SubtaskVerdict, type TaskId } from '#proto';
import { findTask, listOfIds, type Run } from '#libs/constellation';

/** The tasks of a run that an evaluation judges: those that were tried, in the order of the plan. */
export function subtasksOf(run: Run): TaskId[] {
  return [...run.tasks].flatMap(({ star, attempt }) => (attempt > 0 ? [star.id] : []));
}

/** Why verdicts are about no task that they could be about, each a sentence for the model that gave them. */
export function problemsOfVerdicts({ subtasks = [] }: Evaluation, run: Run): string[] {
  const seen = new Set<TaskId>();
  return subtasks.flatMap(({ task_id: id }, index) => {
    const path = `subtasks[${index}].task_id`;
    const isTwice = seen.has(id);
    seen.add(id);
    if (isTwice) return [`${path}: task "${id}" has a verdict already; give one for each task`];
    const task = findTask(run, id);
    if (task !== undefined && task.attempt > 0) return [];
    const tried = subtasksOf(run).map((one) => `"${one}"`);
    const known =
      tried.length === 0 ? 'no task was tried, so subtasks is []' : `those that were tried are ${listOfIds(tried)}`;
    return [`${path}: ${task === undefined ? `there is no task "${id}"` : `task "${id}" was never tried`}; ${known}`];
  });
}

/** What a task is found to be that the model has left out: nothing proves either. */
const LEFT_OUT = 'the model gave no verdict about it';

/**
 * The evaluation with a verdict about every task that was tried, as far as there is room: one that was left out is `unsure`, and
 * never taken for done. Where the model knew nothing of subtasks there are none.
 */
export function withAllSubtasks(evaluation: Evaluation, run: Run): Evaluation {
  const { subtasks } = evaluation;
  if (subtasks === undefined) return evaluation;
  const given = new Map(subtasks.map((verdict) => [verdict.task_id, verdict]));
  const all = subtasksOf(run).map(
    (id): SubtaskVerdict => given.get(id) ?? { task_id: id, evaluation: 'unsure', reason: LEFT_OUT },
  );
  // What was judged comes before what was left out, where there is no room for all.
  const judged = all.filter(({ task_id: id }) => given.has(id));
  const rest = all.filter(({ task_id: id }) => !given.has(id)).slice(0, LIMITS.subtasksJudgedMax - judged.length);
  const kept = new Set([...judged, ...rest]);
  return { ...evaluation, subtasks: all.filter((verdict) => kept.has(verdict)) };
}
