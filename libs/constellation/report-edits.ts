import type { EditTrace, RecordedRunEvent, RunCommit, RunEventData } from '#proto';
import { editText, triggersText, violationText } from './event-text.js';
import { more, REPORT_LIMITS } from './report-limits.js';
import { cell, cut, duration, fence, span, table } from './report-text.js';

type Modified = RunEventData<'CONSTELLATION_MODIFIED'>;
type Rejected = RunEventData<'EDIT_REJECTED'>;

/** One edit round from its lock to its end, or an operator's edit, which has no round. */
interface Round {
  readonly sequence: number;
  readonly opened: RunEventData<'EDIT_OPENED'> | null;
  readonly rejected: Rejected[];
  end: Modified | RunEventData<'EDIT_ABANDONED'> | null;
}

const TEXT_CHARS_MAX = 1_000;
const TRACE_CHARS_MAX = 4_000;

/** Who changed the constellation while it ran: every round with its refusals, its outcome and what the planner thought. */
export function editsSection(commits: readonly RunCommit[]): string {
  const rounds = roundsOf(commits.flatMap(({ events }) => events));
  if (rounds.length === 0) return '';
  const shown = rounds.slice(0, REPORT_LIMITS.roundsMax);
  return ['## Edits', ...shown.map(roundText), ...more(rounds.length, REPORT_LIMITS.roundsMax)].join('\n\n');
}

function roundsOf(events: readonly RecordedRunEvent[]): Round[] {
  const rounds: Round[] = [];
  let open: Round | undefined;
  for (const { sequence, type, data } of events) {
    switch (type) {
      case 'EDIT_OPENED':
        rounds.push((open = { sequence, opened: data, rejected: [], end: null }));
        break;
      case 'EDIT_REJECTED':
        open?.rejected.push(data);
        break;
      case 'EDIT_ABANDONED':
        if (open !== undefined) open.end = data;
        break;
      case 'CONSTELLATION_MODIFIED':
        if (data.editId !== undefined && open !== undefined) open.end = data;
        else if (data.edits !== undefined) rounds.push({ sequence, opened: null, rejected: [], end: data });
        break;
      default:
    }
  }
  return rounds;
}

function roundText({ sequence, opened, rejected, end }: Round): string {
  const rows = [
    ...(opened === null ? [] : openedRows(opened)),
    ...(rejected.length === 0 ? [] : [['Proposals refused', String(rejected.length)]]),
    ['Outcome', outcomeText(end)],
    ...(opened === null || end === null ? [] : [['Took', took(opened.openedAt, endedAt(end))]]),
  ];
  const modified = end !== null && 'revision' in end ? end : null;
  const edits = modified?.edits ?? [];
  return [
    opened === null ? `### Edit of event ${sequence}` : `### Round ${span(opened.editId)}`,
    table(['', ''], rows),
    ...rejected.map(rejectionText),
    ...(edits.length === 0 ? [] : ['What changed:', list(edits.map((edit) => span(editText(edit), TEXT_CHARS_MAX)))]),
    ...traceText(modified?.trace),
  ].join('\n\n');
}

function openedRows({ mode, triggers, lockPolicy, openedAt, deadlineAt, revision }: RunEventData<'EDIT_OPENED'>) {
  return [
    ['Mode', `${mode}, of revision ${revision}`],
    ['About', cell(triggersText(triggers), TEXT_CHARS_MAX)],
    ['Lock', lockPolicy],
    ['Opened', `${cell(openedAt)}, until ${cell(deadlineAt)}`],
  ];
}

function outcomeText(end: Round['end']): string {
  if (end === null) return 'still open';
  if (!('revision' in end)) return `given up: ${cell(`${end.reason.code}: ${end.reason.message}`, TEXT_CHARS_MAX)}`;
  const { revision, edits = [], proposedBy, try: number, state } = end;
  const what = edits.length === 0 ? `no change of revision ${revision}` : `revision ${revision}`;
  const details = [number === undefined ? '' : `try ${number}`, state ?? ''].filter((word) => word !== '');
  return [`${what} by ${cell(proposedBy?.id ?? 'somebody')}`, ...details].join(', ');
}

function rejectionText({ try: number, proposedBy, violations, lockPolicy }: Rejected): string {
  const head = `Try ${number} of ${span(proposedBy.id)} was refused; the lock is ${lockPolicy} from then on:`;
  return [head, list(violations.map((violation) => span(violationText(violation), TEXT_CHARS_MAX)))].join('\n\n');
}

/** Shown, never read: it says what it likes. */
function traceText(trace: EditTrace = {}): string[] {
  return (['observation', 'thought', 'result'] as const).flatMap((what) => {
    const text = trace[what];
    return text === undefined ? [] : [`${what}:`, fence(cut(text, TRACE_CHARS_MAX), 'text')];
  });
}

function list(items: readonly string[]): string {
  const { editsMax } = REPORT_LIMITS;
  const shown = items.slice(0, editsMax).map((item) => `- ${item}`);
  return [shown.join('\n'), ...more(items.length, editsMax)].join('\n\n');
}

function endedAt(end: NonNullable<Round['end']>): string {
  return 'revision' in end ? end.modifiedAt : end.abandonedAt;
}

function took(from: string, until: string): string {
  return duration(Math.max(0, Date.parse(until) - Date.parse(from)));
}
