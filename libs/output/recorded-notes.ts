import { isTerminalTask } from '#libs/constellation';
import { isWorkspaceTool, type RunView, type TaskView } from '#proto';
import type { StreamKept } from './kept-output.adapter.js';
import { placeOfOutput, type OutputSelection, type RecordedCommand } from './recorded-commands.js';

/** What is to be said of a stream that is not whole. */
export function partNote(command: RecordedCommand, { stream, bytes, why }: StreamKept): string {
  const of = bytes === null ? 'not all' : `not all ${bytes} bytes`;
  return `${placeOfOutput(command)} ${stream}: ${of} of it are kept: ${why ?? 'nobody has said why'}`;
}

/** What is to be said of a command of which nothing is shown: that it wrote nothing is only said of what was seen. */
export function emptyNote(command: RecordedCommand): string {
  const { call, state, refused, error, result } = command;
  const place = placeOfOutput(command);
  if (result !== null) return `${place} wrote nothing`;
  const why = error === null ? '' : `: ${error}`;
  if (call !== null && isWorkspaceTool(call.tool)) {
    return `${place} moves files and writes nothing; it ended ${state ?? 'without a word'}${why}`;
  }
  if (refused) return `${place} never ran${why}`;
  return `${place}: what it wrote is not known; it ended ${state ?? 'without a word'}${why}`;
}

/** Of tasks without a command that has ended: what they are, so that nobody takes nothing for an empty output. */
export function taskNotes(
  { tasks }: Pick<RunView, 'tasks'>,
  commands: readonly RecordedCommand[],
  { taskId, failed = false }: OutputSelection,
): string[] {
  const silent = tasks.filter(
    ({ id }) => (taskId === undefined || id === taskId) && !commands.some((command) => command.taskId === id),
  );
  const running = tasks.filter(({ id, status }) => (taskId === undefined || id === taskId) && status === 'RUNNING');
  return [
    ...silent.filter((task) => !failed || task.status === 'FAILED').map(silentNote),
    ...running
      .filter((task) => !silent.includes(task))
      .map(({ id }) => `${id} is still running: what runs there now is recorded when it has ended`),
  ];
}

function silentNote({ id, status, error }: TaskView): string {
  const why = error === null ? '' : `: ${error.message}`;
  if (isTerminalTask(status)) return `${id}: no command of it has an output that is recorded; it is ${status}${why}`;
  const later = status === 'RUNNING' ? 'what runs there now is recorded when it has ended' : 'nothing ran yet';
  return `${id} is ${status}: ${later}`;
}
