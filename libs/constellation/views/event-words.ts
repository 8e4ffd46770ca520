import type { Ask, RunEventData, RunEventType, TaskResult } from '#proto';
import { wallText } from './wall-text.js';
import {
  callText,
  counted,
  decisionText,
  editsText,
  exitCodeIn,
  noteText,
  standingText,
  stopText,
  triggersText,
  wordsText,
  violationsText,
  waitsText,
  writerText,
} from './event-text.js';

/** What a surface does to foreign text inside of a sentence. The sentence as a whole is still to be made harmless. */
export interface Showing {
  /** Commands and decisions about them: nothing may be hidden. */
  readonly exact: (text: string) => string;
  /** What a planner or a person says of its own work: as much of it as the surface has room for. */
  readonly brief: (text: string) => string;
  /** An instant as it says them; `clock`: only the time of the day. */
  readonly moment: (instant: string) => string;
  readonly clock: (instant: string) => string;
}

/** Everything a person wants to know about an event beside its type: the same in a terminal, a pipe, a replay and a report. */
export function eventWords<T extends RunEventType>(
  { type, data }: { readonly type: T; readonly data: RunEventData<T> },
  showing: Showing,
): string {
  return WORDS[type](data, showing);
}

const LISTED_MAX = 8;

type Words = { readonly [T in RunEventType]: (data: RunEventData<T>, showing: Showing) => string };

const WORDS: Words = {
  RUN_REQUESTED: ({ goal, constellation, requestedBy, requestId }) =>
    `${requestId} by ${requestedBy.id}: ${constellation?.name ?? goal ?? ''}`,
  RUN_FORKED: ({ parent, requestedBy, name, revision, tasks }) => {
    const state = `revision ${revision}, ${counted(tasks.length, 'task')}`;
    return `from event ${parent.sequence} of ${parent.runId} by ${requestedBy.id}: ${name} (${state})`;
  },
  CONSTELLATION_MODIFIED: modificationText,
  EDIT_OPENED: ({ editId, mode, lockPolicy, triggers, deadlineAt }, { clock }) =>
    `${editId} (${mode}, ${lockPolicy}) about ${triggersText(triggers)}, until ${clock(deadlineAt)}`,
  EDIT_REJECTED: ({ editId, try: number, proposedBy, violations }) =>
    `${editId} try ${number} by ${proposedBy.id}: ${violationsText(violations)}`,
  EDIT_ABANDONED: ({ editId, reason }) => `${editId}: ${reason.code} ${reason.message}`,
  TASKS_WAITING: waitsText,
  FAN_OUT_STARTED: ({ taskId, parts, waveSize, maxFailures }) => {
    const size = waveSize < parts.length ? `, ${waveSize} at a time` : ', all at once';
    return `${taskId} on ${counted(parts.length, 'device')}${size}, ${maxFailures} may fail`;
  },
  WAVE_STARTED: ({ taskId, wave, parts }) => {
    const named = parts.slice(0, LISTED_MAX).map(({ deviceId }) => deviceId);
    const more = parts.length > LISTED_MAX ? ` and ${parts.length - LISTED_MAX} more` : '';
    return `${taskId} wave ${wave}: ${named.join(', ')}${more}`;
  },
  TASK_STARTED: ({ taskId, deviceId, attempt }) =>
    `${taskId} on ${deviceId}${attempt > 1 ? ` (attempt ${attempt})` : ''}`,
  TASK_COMPLETED: ({ taskId, result }) => `${taskId}${exitCodeText(result)}${filesLeftText(result)}`,
  TASK_FAILED: ({ taskId, error }) => `${taskId}: ${error.code} ${error.message}`,
  TASK_STOP_REQUESTED: (data) => `${data.taskId} (${stopText(data)})`,
  TASK_REOPENED: ({ taskId, attempt, by }) =>
    `${taskId} for attempt ${attempt + 1}${by === undefined ? '' : ` by ${by.id}`}`,
  TASK_SKIPPED: ({ taskId, reason }) => `${taskId}: ${reason}`,
  TASK_CANCELLED: (data) =>
    `${data.taskId} (${stopText(data)})${data.output === undefined ? '' : exitCodeText(data.output)}`,
  APPROVAL_REQUESTED: ({ taskId, ask, approvers }, showing) =>
    `${askedText(taskId, ask, showing)}${approvers === undefined ? '' : `; too few may approve it: ${approvers}`}`,
  APPROVAL_GIVEN: ({ taskId, approvalId, by, command, wall, grantMs, note }, { exact, brief }) => {
    const grant = grantMs === undefined ? '' : `, the same for ${grantMs / 60_000} minutes`;
    const as = command === undefined ? '' : `, as ${callText(command)}`;
    const held = wall === undefined ? '' : `, with: ${wallText(wall)}`;
    const said = note === undefined ? '' : `: ${brief(note)}`;
    return `${taskId}: ${exact(`one word, by ${by.id}${grant}${as}${held}${said}`)}; ${approvalId}`;
  },
  PLAN_ACCEPTED: ({ by, revision }) => `one word, by ${by.id}, for revision ${revision}`,
  APPROVAL_DECIDED: (data, { exact, brief, moment }) => {
    const grant = data.grant === undefined ? {} : { grant: { ...data.grant, until: moment(data.grant.until) } };
    const [answer, note] = [data.answer, data.note].map((text) => (text === undefined ? undefined : brief(text)));
    return `${data.taskId}: ${exact(decisionText({ ...data, ...grant, answer, note }))}; ${data.approvalId}`;
  },
  RUN_COMPLETED: ({ outcome, counts }) => `${outcome} (${countsText(counts)})`,
  RUN_FAILED: ({ reason, counts }) => `${reason.code}: ${reason.message} (${countsText(counts)})`,
  RUN_CANCELLED: ({ by, reason, counts }) => `by ${by.id}: ${reason} (${countsText(counts)})`,
  RUN_PAUSED: (data) => `by ${data.actor?.id ?? data.by}: ${data.reason}${acceptText(data)}`,
  RUN_RESUMED: (data) => {
    const before = data.standing === undefined ? '' : `, ${standingText(data.standing)}`;
    return `by ${data.by.id}${wordsText(data)}${before}`;
  },
  RUN_REOPENED: ({ by, deadlineAt }, { moment }) => `by ${by.id}, until ${moment(deadlineAt)}`,
  WORDS_SAID: ({ number, by, text, delegated }, { brief }) =>
    `${number} by ${by.id}${delegated === true ? ', through a program' : ''}: ${brief(text)}`,
  BOARD_WRITTEN: (data, { brief }) => writtenText(data, brief),
  WORKSPACE_DISCARDED: ({ deviceId, by }) => `${deviceId}, by ${by.id}`,
  RUN_ANNOTATED: (data) => {
    if (data.kind === 'late_result') return `${data.taskId}: ${data.text}`;
    if (data.kind === 'note') return `note ${noteText(data)}`;
    return `evaluation, complete: ${data.evaluation.complete}: ${data.evaluation.reason}`;
  },
};

/** `disk: EXEC_CLI rm -rf /srv/old on web-1 (destructive), until 12:10:00`. */
function askedText(taskId: string, ask: Ask, { exact, clock }: Showing): string {
  const [what, kind] = ask.kind === 'approval' ? [callText(ask.command), ask.class] : [`? ${ask.question}`, 'question'];
  const held = ask.kind === 'approval' && ask.wall !== undefined ? `, with: ${exact(wallText(ask.wall))}` : '';
  return `${taskId}: ${exact(what)} on ${ask.deviceId} (${kind})${held}, until ${clock(ask.expiresAt)}; ${ask.approvalId}`;
}

/** `revision 4: 4 tasks, 3 lines; e2 try 2 by planner adds task d; CONTINUE; thought: the disk first`. */
function modificationText(data: RunEventData<'CONSTELLATION_MODIFIED'>, { brief }: Showing): string {
  const { revision, tasks, lines, edits, editId, try: number, proposedBy, state, trace } = data;
  const sizes = `revision ${revision}: ${counted(tasks, 'task')}, ${counted(lines, 'line')}`;
  if (edits === undefined) return sizes;
  const round = editId === undefined ? [] : [`${editId}${number === undefined ? '' : ` try ${number}`} by`];
  const said = [
    [...round, proposedBy?.id ?? 'somebody', editsText(edits)].join(' '),
    ...(state === undefined || state === 'CONTINUE' ? [] : [state]),
    ...Object.entries(trace ?? {}).map(([what, text]) => `${what}: ${brief(text ?? '')}`),
  ];
  return [sizes, ...said].join('; ');
}

function acceptText({ waitsFor }: RunEventData<'RUN_PAUSED'>): string {
  return waitsFor === undefined ? '' : '; accept it with "orrery resume", drop it with "orrery cancel"';
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

/** `, leaves 3 files (4096 bytes)`: of what a task leaves for others. */
function filesLeftText(result: TaskResult): string {
  const left = (result.files ?? []).filter(({ path }) => path !== undefined);
  if (left.length === 0) return '';
  const bytes = result.fileList?.bytes ?? left.reduce((sum, { artifact }) => sum + (artifact?.bytes ?? 0), 0);
  return `, leaves ${counted(result.fileList?.files ?? left.length, 'file')} (${bytes} bytes)`;
}

/** `free_gb by anna: 120 (revision 3)`. */
function writtenText(data: RunEventData<'BOARD_WRITTEN'>, brief: (text: string) => string): string {
  const { name, value, revision, judge } = data;
  const what = value === undefined ? 'taken off' : brief(JSON.stringify(value));
  return `${name} by ${writerText(data)}: ${what} (revision ${revision}${judge === true ? ', judged' : ''})`;
}
