import { inputTask, StdinFrom, type TaskId } from '#proto';
import { isAgentTask } from './budget.js';
import type { Run } from './run.js';

/**
 * Whether the command of a task reads what a model may have written: what an agent answers, what a command prints that a model may
 * have written, and what another command makes of either. It is a value that nobody has read, in the hands of whoever wrote the
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
    const stdin = StdinFrom.safeParse(star.command?.arguments['stdin']);
    for (const source of stdin.success ? stdin.data.from.map(inputTask) : []) {
      if (seen.has(source)) continue;
      seen.add(source);
      open.push(source);
    }
  }
  return false;
}
