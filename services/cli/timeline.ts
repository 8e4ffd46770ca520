import { cleanLine } from './clean.js';
import { clockText } from './duration.js';
import type { RecordedRunEvent, RunCommit, TaskResult } from '#proto';

/** One line per event: `12:01:02 TASK_STARTED mem-1 on web-1`. The same for a pipe, the live view and a replay. */
export function timelineOf(commit: RunCommit, events: readonly RecordedRunEvent[] = commit.events): string[] {
  return events.map((event) => cleanLine(`${clockText(commit.at)} ${event.type} ${detailOf(event)}`));
}

/** Everything a person wants to know about an event beside its type; foreign text in it is not yet clean. */
function detailOf(event: RecordedRunEvent): string {
  switch (event.type) {
    case 'RUN_REQUESTED': {
      const { goal, constellation, requestedBy, requestId } = event.data;
      return `${requestId} by ${requestedBy.id}: ${constellation?.name ?? goal ?? ''}`;
    }
    case 'CONSTELLATION_MODIFIED': {
      const { revision, tasks, lines } = event.data;
      return `revision ${revision}: ${counted(tasks, 'task')}, ${counted(lines, 'line')}`;
    }
    case 'TASK_STARTED': {
      const { taskId, deviceId, attempt } = event.data;
      return `${taskId} on ${deviceId}${attempt > 1 ? ` (attempt ${attempt})` : ''}`;
    }
    case 'TASK_COMPLETED':
      return `${event.data.taskId}${exitCodeText(event.data.result)}`;
    case 'TASK_FAILED':
      return `${event.data.taskId}: ${event.data.error.code} ${event.data.error.message}`;
    case 'TASK_STOP_REQUESTED':
      return `${event.data.taskId} (${event.data.reason})`;
    case 'TASK_REOPENED':
      return `${event.data.taskId} for attempt ${event.data.attempt + 1}`;
    case 'TASK_SKIPPED':
      return `${event.data.taskId}: ${event.data.reason}`;
    case 'TASK_CANCELLED':
      return `${event.data.taskId} (${event.data.reason})`;
    case 'RUN_COMPLETED':
      return `${event.data.outcome} (${countsText(event.data.counts)})`;
    case 'RUN_FAILED':
      return `${event.data.reason.code}: ${event.data.reason.message} (${countsText(event.data.counts)})`;
    case 'RUN_PAUSED':
      return `by ${event.data.by}: ${event.data.reason}`;
    case 'RUN_ANNOTATED':
      return `${event.data.taskId}: ${event.data.text}`;
  }
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** `3 completed, 1 failed`: what is zero is not worth a word. */
export function countsText(counts: Readonly<Record<string, number>>): string {
  const named = Object.entries(counts).filter(([, count]) => count > 0);
  return named.length === 0 ? 'no tasks' : named.map(([name, count]) => `${count} ${name}`).join(', ');
}

function exitCodeText({ value }: TaskResult): string {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const code = isObject ? value['exit_code'] : undefined;
  return typeof code === 'number' ? ` (exit code ${code})` : '';
}
