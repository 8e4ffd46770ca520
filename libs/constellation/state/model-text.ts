import { inputTask, stdinSources, type TaskId } from '#proto';
import { boardReferences } from '../board/index.js';
import { isAgentTask } from './budget.js';
import type { TaskState } from './task.js';
import type { Run } from './run.js';

/**
 * Whether the command of a task reads what a model may have written: what an agent answers, what a command prints that a model may
 * have written, what another command makes of either, and what stands so marked on the board. It is a value that nobody has read, in the hands of whoever wrote the
 * command: a shell does what it reads. Of what else the two have to do with each other (conditions, files of a device) it knows nothing.
 */
export function readsModelText(run: Run, taskId: TaskId): boolean {
  const { graph, tasks } = run;
  const open = [taskId];
  const seen = new Set(open);
  for (const id of open) {
    const index = graph.taskIndex.get(id);
    if (index === undefined) continue;
    const { star, judged } = tasks.at(index);
    if (id !== taskId && (judged || isAgentTask(star))) return true;
    if (takesUnread(run, tasks.at(index), id === taskId ? null : tasks.at(index).startedAt)) return true;
    for (const source of stdinSources(star.command).map(inputTask)) {
      if (seen.has(source)) continue;
      seen.add(source);
      open.push(source);
    }
  }
  return false;
}

/** A value of the board that a model may have written goes into it. Of one that has run: or nobody knows any more which value went in. */
function takesUnread({ board }: Run, { star }: TaskState, startedAt: string | null): boolean {
  const commands = [star.command, star.verify?.command].filter((command) => command !== undefined);
  return commands.flatMap(boardReferences).some(({ name }) => {
    const entry = board.entries.get(name);
    if (startedAt === null) return entry === undefined || entry.judge === true;
    return entry === undefined || entry.judge === true || entry.writtenAt >= startedAt;
  });
}
