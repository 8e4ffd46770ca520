import type { TaskStarLine } from '#proto';
import { positionOf } from '../plan/index.js';
import type { Run, TaskState } from '../state/index.js';
import { sameJson } from '../values/index.js';

/** I3 of a task: only what is PENDING may change. Says why not, and what may be done instead; undefined when it may. */
export function mayChangeTask(task: TaskState): string | undefined {
  if (!hasBegun(task)) return undefined;
  return `"${task.star.id}" ${beginningOf(task)}, and only PENDING tasks may change; add another task instead`;
}

/** A task on several devices has with the first of them, and each of those with its wave. */
function hasBegun({ status, fanOut, part }: TaskState): boolean {
  return status !== 'PENDING' || fanOut !== null || part !== null;
}

function beginningOf({ status, fanOut, part }: TaskState): string {
  if (part !== null) return `is one device of "${part.of}", which has begun`;
  return status === 'PENDING' && fanOut !== null ? `has begun on its ${fanOut.parts.length} devices` : `is ${status}`;
}

/** I3 of a line: a line may change only while its target is PENDING, whatever its source has become. */
export function mayChangeLine({ id, to }: Pick<TaskStarLine, 'id' | 'to'>, target: TaskState): string | undefined {
  if (!hasBegun(target)) return undefined;
  return `line "${id}" leads to "${to}", which ${beginningOf(target)}; a line may change only while its target is PENDING`;
}

/** I3 over a whole edit, by comparing before and after: the ids of what should not have changed. For checks and audits. */
export function changedBesidesPending(before: Run, after: Run): string[] {
  const tasks = [...before.tasks].flatMap((task) => {
    if (!hasBegun(task)) return [];
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
    if (!hasBegun(target)) return [];
    const index = after.graph.lineIndex.get(line.id);
    const same =
      index !== undefined &&
      sameJson(after.graph.lines.at(index), line) &&
      sameJson(after.lines.at(index), before.lines.at(position));
    return same ? [] : [line.id];
  });
  return [...tasks, ...lines];
}
