import type { RunCommit, RunEventData, RunEventType, RunView } from '#proto';
import {
  askText,
  decisionText,
  editsText,
  noteText,
  stopText,
  triggersText,
  violationsText,
  waitsText,
} from '../views/index.js';
import { limited } from './report-limits.js';
import { cell } from './report-text.js';

const TEXT_CHARS_MAX = 1_000;

/** Every event of a run with its time, in words. */
export function timelineSection(run: Pick<RunView, 'requestedAt'>, commits: readonly RunCommit[]): string {
  const start = Date.parse(run.requestedAt);
  const rows = commits.flatMap(({ number, at, events }) =>
    events.map((event) => [
      String(event.sequence),
      `+${((Date.parse(at) - start) / 1_000).toFixed(3)} s`,
      event.type,
      happened(event),
      String(number),
    ]),
  );
  return `## Timeline\n\n${limited(['#', 'Time', 'Event', 'What', 'Commit'], rows)}`;
}

/** What people noted beside the history, however much of the timeline is left out. */
export function notesSection({ notes }: Pick<RunView, 'notes'>): string {
  if (!notes) return '';
  const rows = notes.map(({ annotatedAt, by, taskId = 'the run', text }) => [
    cell(annotatedAt),
    cell(by.id),
    cell(taskId),
    cell(text, TEXT_CHARS_MAX),
  ]);
  return `## Notes\n\n${limited(['Time', 'By', 'About', 'Note'], rows)}`;
}

/** One event in words; foreign text in cells. */
function happened<T extends RunEventType>({
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
  RUN_REQUESTED: ({ requestedBy }) => `by ${cell(requestedBy.id)}`,
  RUN_FORKED: ({ parent, requestedBy }) =>
    `from event ${parent.sequence} of run ${cell(parent.runId)} by ${cell(requestedBy.id)}`,
  CONSTELLATION_MODIFIED: ({ revision, tasks, lines, edits, editId, proposedBy }) => {
    const sizes = `revision ${revision}: ${tasks} tasks, ${lines} lines`;
    if (edits === undefined) return sizes;
    const round = editId === undefined ? '' : `${cell(editId)} `;
    return `${sizes}; ${round}by ${cell(proposedBy?.id ?? 'somebody')}: ${cell(editsText(edits), TEXT_CHARS_MAX)}`;
  },
  EDIT_OPENED: ({ editId, mode, triggers, lockPolicy }) =>
    `${cell(editId)}, ${mode}, lock ${lockPolicy}, about ${cell(triggersText(triggers), TEXT_CHARS_MAX)}`,
  EDIT_REJECTED: ({ editId, try: number, violations }) =>
    `${cell(editId)} try ${number}: ${cell(violationsText(violations), TEXT_CHARS_MAX)}`,
  EDIT_ABANDONED: ({ editId, reason }) => `${cell(editId)}: ${cell(`${reason.code}: ${reason.message}`)}`,
  TASKS_WAITING: (data) => cell(waitsText(data), TEXT_CHARS_MAX),
  TASK_STARTED: ({ taskId, attempt, deviceId }) => `${cell(taskId)} attempt ${attempt} on ${cell(deviceId)}`,
  TASK_COMPLETED: ({ taskId, attempt }) => `${cell(taskId)} attempt ${attempt}`,
  TASK_FAILED: ({ taskId, attempt, error }) =>
    `${cell(taskId)} attempt ${attempt}: ${cell(`${error.code}: ${error.message}`)}`,
  TASK_STOP_REQUESTED: (data) => `${cell(data.taskId)} attempt ${data.attempt}: ${cell(stopText(data))}`,
  TASK_REOPENED: ({ taskId, attempt, notBefore, by }) => {
    const who = by === undefined ? '' : ` by ${cell(by.id)}`;
    return `${cell(taskId)} after attempt ${attempt}${who}, not before ${cell(notBefore)}`;
  },
  TASK_SKIPPED: ({ taskId, by, reason }) => `${cell(taskId)} by ${by}: ${cell(reason)}`,
  TASK_CANCELLED: (data) => `${cell(data.taskId)}: ${cell(stopText(data))}`,
  APPROVAL_REQUESTED: ({ taskId, attempt, ask }) =>
    `${cell(taskId)} attempt ${attempt} asks, ${cell(askText(ask), TEXT_CHARS_MAX)}`,
  APPROVAL_DECIDED: (data) => {
    const said = cell(decisionText(data), TEXT_CHARS_MAX);
    return `${cell(data.taskId)} attempt ${data.attempt}, ${cell(data.approvalId)}: ${said}`;
  },
  RUN_COMPLETED: ({ outcome }) => outcome,
  RUN_FAILED: ({ reason }) => cell(`${reason.code}: ${reason.message}`),
  RUN_CANCELLED: ({ by, reason }) => `by ${cell(by.id)}: ${cell(reason)}`,
  RUN_PAUSED: ({ actor, by, reason }) => `by ${cell(actor?.id ?? by)}: ${cell(reason)}`,
  RUN_RESUMED: ({ by }) => `by ${cell(by.id)}`,
  RUN_REOPENED: ({ by, deadlineAt }) => `by ${cell(by.id)}, deadline ${cell(deadlineAt)}`,
  RUN_ANNOTATED: (data) => {
    if (data.kind === 'late_result') return `${cell(data.taskId)} attempt ${data.attempt}: ${cell(data.text)}`;
    if (data.kind === 'note') return `note ${cell(noteText(data), TEXT_CHARS_MAX)}`;
    const { complete, reason } = data.evaluation;
    return `evaluation, complete: ${complete}: ${cell(reason, TEXT_CHARS_MAX)}`;
  },
};
