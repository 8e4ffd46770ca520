import { editsText, noteText, stopText, triggersText, violationsText, waitsText } from '#libs/constellation';
import type { RecordedRunEvent, RunCommit, RunEventData, TaskResult } from '#proto';
import { askedText, decidedText } from './approval-text.js';
import { cleanLine, clipToWidth, clockText } from '../terminal/index.js';
import { exitCodeIn } from './result-text.js';

/** Of what a planner says of itself; the report has all of it. */
const TRACE_CHARS_MAX = 200;

/** One line per event: `12:01:02 TASK_STARTED mem-1 on web-1`. The same for a pipe, the live view and a replay. */
export function timelineOf(commit: RunCommit, events: readonly RecordedRunEvent[] = commit.events): string[] {
  return events.map((event) => cleanLine(`${clockText(commit.at)} ${event.type} ${detailOf(event)}`));
}

/** Everything a person wants to know about an event beside its type; foreign text in it is not yet clean. */
function detailOf(event: RecordedRunEvent): string {
  switch (event.type) {
    case 'CONSTELLATION_MODIFIED':
    case 'EDIT_OPENED':
    case 'EDIT_REJECTED':
    case 'EDIT_ABANDONED':
      return roundText(event);
    case 'TASK_STARTED':
    case 'TASK_COMPLETED':
    case 'TASK_FAILED':
    case 'TASK_STOP_REQUESTED':
    case 'TASK_REOPENED':
    case 'TASK_SKIPPED':
    case 'TASK_CANCELLED':
    case 'RUN_ANNOTATED':
      return taskText(event);
    case 'APPROVAL_REQUESTED':
      return askedText(event.data.taskId, event.data.ask);
    case 'APPROVAL_DECIDED': {
      const { taskId, approvalId } = event.data;
      return `${taskId}: ${decidedText(event.data, TRACE_CHARS_MAX)}; ${approvalId}`;
    }
    default:
      return runEventText(event);
  }
}

type RoundEvent = Extract<RecordedRunEvent, { type: 'CONSTELLATION_MODIFIED' | `EDIT_${string}` }>;
type TaskEvent = Extract<RecordedRunEvent, { type: `TASK_${string}` | 'RUN_ANNOTATED' }>;
type RunOnlyEvent = Exclude<RecordedRunEvent, RoundEvent | TaskEvent | { type: `APPROVAL_${string}` }>;

function roundText(event: RoundEvent): string {
  switch (event.type) {
    case 'CONSTELLATION_MODIFIED':
      return modificationText(event.data);
    case 'EDIT_OPENED': {
      const { editId, mode, lockPolicy, triggers, deadlineAt } = event.data;
      return `${editId} (${mode}, ${lockPolicy}) about ${triggersText(triggers)}, until ${clockText(deadlineAt)}`;
    }
    case 'EDIT_REJECTED': {
      const { editId, try: number, proposedBy, violations } = event.data;
      return `${editId} try ${number} by ${proposedBy.id}: ${violationsText(violations)}`;
    }
    case 'EDIT_ABANDONED':
      return `${event.data.editId}: ${event.data.reason.code} ${event.data.reason.message}`;
  }
}

/** `revision 4: 4 tasks, 3 lines; e2 try 2 by planner adds task d; CONTINUE; thought: the disk first`. */
function modificationText(data: RunEventData<'CONSTELLATION_MODIFIED'>): string {
  const { revision, tasks, lines, edits, editId, try: number, proposedBy, state, trace } = data;
  const sizes = `revision ${revision}: ${counted(tasks, 'task')}, ${counted(lines, 'line')}`;
  if (edits === undefined) return sizes;
  const round = editId === undefined ? [] : [`${editId}${number === undefined ? '' : ` try ${number}`} by`];
  const said = [
    [...round, proposedBy?.id ?? 'somebody', editsText(edits)].join(' '),
    ...(state === undefined || state === 'CONTINUE' ? [] : [state]),
    ...Object.entries(trace ?? {}).map(
      ([what, text]) => `${what}: ${clipToWidth(cleanLine(text ?? ''), TRACE_CHARS_MAX)}`,
    ),
  ];
  return [sizes, ...said].join('; ');
}

function taskText(event: TaskEvent): string {
  switch (event.type) {
    case 'TASK_STARTED': {
      const { taskId, deviceId, attempt } = event.data;
      return `${taskId} on ${deviceId}${attempt > 1 ? ` (attempt ${attempt})` : ''}`;
    }
    case 'TASK_COMPLETED':
      return `${event.data.taskId}${exitCodeText(event.data.result)}`;
    case 'TASK_FAILED':
      return `${event.data.taskId}: ${event.data.error.code} ${event.data.error.message}`;
    case 'TASK_STOP_REQUESTED':
      return `${event.data.taskId} (${stopText(event.data)})`;
    case 'TASK_REOPENED': {
      const { taskId, attempt, by } = event.data;
      return `${taskId} for attempt ${attempt + 1}${by === undefined ? '' : ` by ${by.id}`}`;
    }
    case 'TASK_SKIPPED':
      return `${event.data.taskId}: ${event.data.reason}`;
    case 'TASK_CANCELLED': {
      const { taskId, output } = event.data;
      return `${taskId} (${stopText(event.data)})${output === undefined ? '' : exitCodeText(output)}`;
    }
    case 'RUN_ANNOTATED':
      return annotationText(event.data);
  }
}

function annotationText(data: RunEventData<'RUN_ANNOTATED'>): string {
  if (data.kind === 'late_result') return `${data.taskId}: ${data.text}`;
  if (data.kind === 'note') return `note ${noteText(data)}`;
  return `evaluation, complete: ${data.evaluation.complete}: ${data.evaluation.reason}`;
}

function runEventText(event: RunOnlyEvent): string {
  switch (event.type) {
    case 'RUN_REQUESTED': {
      const { goal, constellation, requestedBy, requestId } = event.data;
      return `${requestId} by ${requestedBy.id}: ${constellation?.name ?? goal ?? ''}`;
    }
    case 'RUN_FORKED': {
      const { parent, requestedBy, name, revision, tasks } = event.data;
      const state = `revision ${revision}, ${counted(tasks.length, 'task')}`;
      return `from event ${parent.sequence} of ${parent.runId} by ${requestedBy.id}: ${name} (${state})`;
    }
    case 'RUN_COMPLETED':
      return `${event.data.outcome} (${countsText(event.data.counts)})`;
    case 'RUN_FAILED':
      return `${event.data.reason.code}: ${event.data.reason.message} (${countsText(event.data.counts)})`;
    case 'RUN_CANCELLED':
      return `by ${event.data.by.id}: ${event.data.reason} (${countsText(event.data.counts)})`;
    case 'RUN_PAUSED':
      return `by ${event.data.actor?.id ?? event.data.by}: ${event.data.reason}${acceptText(event.data)}`;
    case 'RUN_RESUMED':
      return `by ${event.data.by.id}`;
    case 'RUN_REOPENED':
      return `by ${event.data.by.id}, until ${event.data.deadlineAt}`;
    case 'TASKS_WAITING':
      return waitsText(event.data);
  }
}

function acceptText({ waitsFor }: RunEventData<'RUN_PAUSED'>): string {
  return waitsFor === undefined ? '' : '; accept it with "orrery resume", drop it with "orrery cancel"';
}

export function counted(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : nouns}`;
}

/** `3 completed, 1 failed`: what is zero is not worth a word. */
export function countsText(counts: Readonly<Record<string, number>>): string {
  const named = Object.entries(counts).filter(([, count]) => count > 0);
  return named.length === 0 ? 'no tasks' : named.map(([name, count]) => `${count} ${name}`).join(', ');
}

function exitCodeText({ value }: TaskResult): string {
  const code = exitCodeIn(value);
  return code === undefined ? '' : ` (exit code ${code})`;
}
