import type { RecordedRunEvent, RunCommit, RunEventData, RunView, TaskId } from '#proto';
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
import { assertNever } from '../fold/index.js';
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
function happened(event: RecordedRunEvent): string {
  switch (event.type) {
    case 'CONSTELLATION_MODIFIED':
    case 'EDIT_OPENED':
    case 'EDIT_REJECTED':
    case 'EDIT_ABANDONED':
      return roundText(event);
    case 'RUN_REQUESTED':
    case 'RUN_FORKED':
    case 'RUN_COMPLETED':
    case 'RUN_FAILED':
    case 'RUN_CANCELLED':
    case 'RUN_PAUSED':
    case 'RUN_RESUMED':
    case 'RUN_REOPENED':
    case 'RUN_ANNOTATED':
    case 'TASKS_WAITING':
      return runText(event);
    default:
      return taskText(event);
  }
}

type RoundEvent = Extract<RecordedRunEvent, { type: 'CONSTELLATION_MODIFIED' | `EDIT_${string}` }>;
type TaskEvent = Extract<RecordedRunEvent, { data: { taskId: TaskId } }>;
type RunOnlyEvent = Exclude<RecordedRunEvent, RoundEvent | TaskEvent>;

function roundText(event: RoundEvent): string {
  switch (event.type) {
    case 'CONSTELLATION_MODIFIED': {
      const { revision, tasks, lines, edits, editId, proposedBy } = event.data;
      const sizes = `revision ${revision}: ${tasks} tasks, ${lines} lines`;
      if (edits === undefined) return sizes;
      const round = editId === undefined ? '' : `${cell(editId)} `;
      return `${sizes}; ${round}by ${cell(proposedBy?.id ?? 'somebody')}: ${cell(editsText(edits), TEXT_CHARS_MAX)}`;
    }
    case 'EDIT_OPENED': {
      const { editId, mode, triggers, lockPolicy } = event.data;
      return `${cell(editId)}, ${mode}, lock ${lockPolicy}, about ${cell(triggersText(triggers), TEXT_CHARS_MAX)}`;
    }
    case 'EDIT_REJECTED': {
      const { editId, try: number, violations } = event.data;
      return `${cell(editId)} try ${number}: ${cell(violationsText(violations), TEXT_CHARS_MAX)}`;
    }
    case 'EDIT_ABANDONED': {
      const { editId, reason } = event.data;
      return `${cell(editId)}: ${cell(`${reason.code}: ${reason.message}`)}`;
    }
  }
}

function runText(event: RunOnlyEvent): string {
  switch (event.type) {
    case 'RUN_REQUESTED':
      return `by ${cell(event.data.requestedBy.id)}`;
    case 'RUN_FORKED': {
      const { parent, requestedBy } = event.data;
      return `from event ${parent.sequence} of run ${cell(parent.runId)} by ${cell(requestedBy.id)}`;
    }
    case 'RUN_COMPLETED':
      return event.data.outcome;
    case 'RUN_FAILED':
      return cell(`${event.data.reason.code}: ${event.data.reason.message}`);
    case 'RUN_CANCELLED':
      return `by ${cell(event.data.by.id)}: ${cell(event.data.reason)}`;
    case 'RUN_PAUSED':
      return `by ${cell(event.data.actor?.id ?? event.data.by)}: ${cell(event.data.reason)}`;
    case 'RUN_RESUMED':
      return `by ${cell(event.data.by.id)}`;
    case 'RUN_REOPENED':
      return `by ${cell(event.data.by.id)}, deadline ${cell(event.data.deadlineAt)}`;
    case 'RUN_ANNOTATED':
      return annotationText(event.data);
    case 'TASKS_WAITING':
      return cell(waitsText(event.data), TEXT_CHARS_MAX);
    default:
      return assertNever(event);
  }
}

function taskText(event: TaskEvent): string {
  switch (event.type) {
    case 'TASK_STARTED':
      return `${cell(event.data.taskId)} attempt ${event.data.attempt} on ${cell(event.data.deviceId)}`;
    case 'TASK_COMPLETED':
      return `${cell(event.data.taskId)} attempt ${event.data.attempt}`;
    case 'TASK_FAILED': {
      const { taskId, attempt, error } = event.data;
      return `${cell(taskId)} attempt ${attempt}: ${cell(`${error.code}: ${error.message}`)}`;
    }
    case 'TASK_STOP_REQUESTED':
      return `${cell(event.data.taskId)} attempt ${event.data.attempt}: ${cell(stopText(event.data))}`;
    case 'TASK_REOPENED': {
      const { taskId, attempt, notBefore, by } = event.data;
      const who = by === undefined ? '' : ` by ${cell(by.id)}`;
      return `${cell(taskId)} after attempt ${attempt}${who}, not before ${cell(notBefore)}`;
    }
    case 'TASK_SKIPPED':
      return `${cell(event.data.taskId)} by ${event.data.by}: ${cell(event.data.reason)}`;
    case 'TASK_CANCELLED':
      return `${cell(event.data.taskId)}: ${cell(stopText(event.data))}`;
    case 'APPROVAL_REQUESTED': {
      const { taskId, attempt, ask } = event.data;
      return `${cell(taskId)} attempt ${attempt} asks, ${cell(askText(ask), TEXT_CHARS_MAX)}`;
    }
    case 'APPROVAL_DECIDED': {
      const { taskId, attempt, approvalId } = event.data;
      const said = cell(decisionText(event.data), TEXT_CHARS_MAX);
      return `${cell(taskId)} attempt ${attempt}, ${cell(approvalId)}: ${said}`;
    }
    default:
      return assertNever(event);
  }
}

function annotationText(data: RunEventData<'RUN_ANNOTATED'>): string {
  if (data.kind === 'late_result') return `${cell(data.taskId)} attempt ${data.attempt}: ${cell(data.text)}`;
  if (data.kind === 'note') return `note ${cell(noteText(data), TEXT_CHARS_MAX)}`;
  const { complete, reason } = data.evaluation;
  return `evaluation, complete: ${complete}: ${cell(reason, TEXT_CHARS_MAX)}`;
}
