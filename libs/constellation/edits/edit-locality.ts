import type { TaskStarLine } from '#proto';
import { positionOf } from '../plan/index.js';
import type { Run, TaskState } from '../state/index.js';
import { sameJson } from '../values/index.js';

/** I3 of a task: only what is PENDING may change. Says why not, and what may be done instead; undefined when it may. */
export function mayChangeTask({ star, status }: TaskState): string | undefined {
  if (status === 'PENDING') return undefined;
  return `"${star.id}" is ${status}, and only PENDING tasks may change; add another task instead`;
}

/** I3 of a line: a line may change only while its target is PENDING, whatever its source has become. */
export function mayChangeLine({ id, to }: Pick<TaskStarLine, 'id' | 'to'>, target: TaskState): string | undefined {
  if (target.status === 'PENDING') return undefined;
  return `line "${id}" leads to "${to}", which is ${target.status}; a line may change only while its target is PENDING`;
}

/** I3 over a whole edit, by comparing before and after: the ids of what should not have changed. For checks and audits. */
export function changedBesidesPending(before: Run, after: Run): string[] {
  const tasks = [...before.tasks].flatMap((task) => {
    if (task.status === 'PENDING') return [];
    const index = after.graph.taskIndex.get(task.star.id);
    if (index === undefined) return [task.star.id];
    const now = after.tasks.at(index);
    if (now === task) return [];
    // That what it reads comes from a model now is no change of it: only of how it is tried again.
    // Nor is a person's word that it stands for what it replaces.
    const marks = { judged: task.judged || now.judged, vouched: task.vouched || now.vouched };
    return sameJson(now, { ...task, ...marks }) ? [] : [task.star.id];
  });
  const lines = [...before.graph.lines].flatMap((line, position) => {
    const target = before.tasks.at(positionOf(before.graph.taskIndex, line.to));
    if (target.status === 'PENDING') return [];
    const index = after.graph.lineIndex.get(line.id);
    const same =
      index !== undefined &&
      sameJson(after.graph.lines.at(index), line) &&
      sameJson(after.lines.at(index), before.lines.at(position));
    return same ? [] : [line.id];
  });
  return [...tasks, ...lines];
}
