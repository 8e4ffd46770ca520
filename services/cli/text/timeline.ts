import { editsText, noteText, stopText, triggersText, violationsText, waitsText } from '#libs/constellation';
import type { RecordedRunEvent, RunCommit, RunEventData, RunEventType, TaskResult } from '#proto';
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
function detailOf<T extends RunEventType>({
  type,
  data,
}: {
  readonly type: T;
  readonly data: RunEventData<T>;
}): string {
  return WORDS[type](data);
}

type Words = { readonly [T in RunEventType]: (data: RunEventData<T>) => string };

const WORDS: Words = {
  RUN_REQUESTED: ({ goal, constellation, requestedBy, requestId }) =>
    `${requestId} by ${requestedBy.id}: ${constellation?.name ?? goal ?? ''}`,
  RUN_FORKED: ({ parent, requestedBy, name, revision, tasks }) => {
    const state = `revision ${revision}, ${counted(tasks.length, 'task')}`;
    return `from event ${parent.sequence} of ${parent.runId} by ${requestedBy.id}: ${name} (${state})`;
  },
  CONSTELLATION_MODIFIED: modificationText,
  EDIT_OPENED: ({ editId, mode, lockPolicy, triggers, deadlineAt }) =>
    `${editId} (${mode}, ${lockPolicy}) about ${triggersText(triggers)}, until ${clockText(deadlineAt)}`,
  EDIT_REJECTED: ({ editId, try: number, proposedBy, violations }) =>
    `${editId} try ${number} by ${proposedBy.id}: ${violationsText(violations)}`,
  EDIT_ABANDONED: ({ editId, reason }) => `${editId}: ${reason.code} ${reason.message}`,
  TASKS_WAITING: waitsText,
  TASK_STARTED: ({ taskId, deviceId, attempt }) =>
    `${taskId} on ${deviceId}${attempt > 1 ? ` (attempt ${attempt})` : ''}`,
  TASK_COMPLETED: ({ taskId, result }) => `${taskId}${exitCodeText(result)}`,
  TASK_FAILED: ({ taskId, error }) => `${taskId}: ${error.code} ${error.message}`,
  TASK_STOP_REQUESTED: (data) => `${data.taskId} (${stopText(data)})`,
  TASK_REOPENED: ({ taskId, attempt, by }) =>
    `${taskId} for attempt ${attempt + 1}${by === undefined ? '' : ` by ${by.id}`}`,
  TASK_SKIPPED: ({ taskId, reason }) => `${taskId}: ${reason}`,
  TASK_CANCELLED: (data) =>
    `${data.taskId} (${stopText(data)})${data.output === undefined ? '' : exitCodeText(data.output)}`,
  APPROVAL_REQUESTED: ({ taskId, ask }) => askedText(taskId, ask),
  APPROVAL_DECIDED: (data) => `${data.taskId}: ${decidedText(data, TRACE_CHARS_MAX)}; ${data.approvalId}`,
  RUN_COMPLETED: ({ outcome, counts }) => `${outcome} (${countsText(counts)})`,
  RUN_FAILED: ({ reason, counts }) => `${reason.code}: ${reason.message} (${countsText(counts)})`,
  RUN_CANCELLED: ({ by, reason, counts }) => `by ${by.id}: ${reason} (${countsText(counts)})`,
  RUN_PAUSED: (data) => `by ${data.actor?.id ?? data.by}: ${data.reason}${acceptText(data)}`,
  RUN_RESUMED: ({ by }) => `by ${by.id}`,
  RUN_REOPENED: ({ by, deadlineAt }) => `by ${by.id}, until ${deadlineAt}`,
  RUN_ANNOTATED: (data) => {
    if (data.kind === 'late_result') return `${data.taskId}: ${data.text}`;
    if (data.kind === 'note') return `note ${noteText(data)}`;
    return `evaluation, complete: ${data.evaluation.complete}: ${data.evaluation.reason}`;
  },
};

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

function acceptText({ waitsFor }: RunEventData<'RUN_PAUSED'>): string {
  return waitsFor === undefined ? '' : '; accept it with "orrery resume", drop it with "orrery cancel"';
}

export function counted(count: number, noun: string, nouns = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : nouns}`;
}

/** `3 completed, 1 failed`: what is zero is not worth a word. */
function countsText(counts: Readonly<Record<string, number>>): string {
  const named = Object.entries(counts).filter(([, count]) => count > 0);
  return named.length === 0 ? 'no tasks' : named.map(([name, count]) => `${count} ${name}`).join(', ');
}

function exitCodeText({ value }: TaskResult): string {
  const code = exitCodeIn(value);
  return code === undefined ? '' : ` (exit code ${code})`;
}
