import type { Edit, EditTrace, RecordedRunEvent, RunCommit, RunEventData } from '#proto';
import { editText, triggersText, violationText, keyOfTry, type PlanSaying } from '../views/index.js';
import { more, REPORT_LIMITS } from './report-limits.js';
import { cell, cut, details, duration, fence, list, span, table } from './report-text.js';

type Modified = RunEventData<'CONSTELLATION_MODIFIED'>;
type Rejected = RunEventData<'EDIT_REJECTED'>;

/** One edit round from its lock to its end, or an operator's edit, which has no round. */
interface Round {
  readonly sequence: number;
  readonly opened: RunEventData<'EDIT_OPENED'> | null;
  readonly rejected: Rejected[];
  end: Modified | RunEventData<'EDIT_ABANDONED'> | null;
}

export interface EditsInput {
  readonly commits: readonly RunCommit[];
  /** What the planner said in its rounds; without it a report has what the run itself knows of that. */
  readonly sayings?: readonly PlanSaying[];
  /** More is recorded of plans than stands in `sayings`. */
  readonly sayingsAreCut?: boolean;
}

/** What the texts of a round may have at most. */
interface Room {
  /** Of an observation, a thought or an answer. */
  readonly traceChars: number;
  /** Edits that are listed. */
  readonly editsMax: number;
}

const TEXT_CHARS_MAX = 1_000;
const CUT = 'More was said in these rounds than stands here: `orrery plan` tells all of it.';

/**
 * Who changed the constellation while it ran: every round with what the planner saw, thought, proposed and answered, its refusals
 * and its outcome, folded below its name. With many rounds each has less room, so that the report stays one that can be read.
 */
export function editsSection({ commits, sayings = [], sayingsAreCut = false }: EditsInput): string {
  const rounds = roundsOf(commits.flatMap(({ events }) => events));
  if (rounds.length === 0) return '';
  const { roundsMax, roundsCharsMax, roundCharsMin, traceCharsMax, editsMax } = REPORT_LIMITS;
  const shown = rounds.slice(0, roundsMax);
  const tries = shown.reduce((sum, { rejected }) => sum + rejected.length + 1, 0);
  const share = Math.floor(roundsCharsMax / tries);
  const room: Room = {
    // Three texts of a try, and half of the share for its edits.
    traceChars: Math.max(roundCharsMin, Math.min(traceCharsMax, Math.floor(share / 6))),
    editsMax: Math.max(1, Math.min(editsMax, Math.floor(share / 2 / TEXT_CHARS_MAX))),
  };
  const said = new Map(sayings.map((saying) => [keyOfTry(saying), saying]));
  return [
    '## Edits',
    ...(sayingsAreCut ? [CUT] : []),
    ...shown.map((round) => roundText(round, said, room)),
    ...more(rounds.length, roundsMax),
  ].join('\n\n');
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

function roundText(round: Round, said: ReadonlyMap<string, PlanSaying>, room: Room): string {
  const { sequence, opened, rejected, end } = round;
  const rows = [
    ...(opened === null ? [] : openedRows(opened)),
    ...(rejected.length === 0 ? [] : [['Proposals refused', String(rejected.length)]]),
    ['Outcome', outcomeText(end)],
    ...(opened === null || end === null ? [] : [['Took', took(opened.openedAt, endedAt(end))]]),
  ];
  const blocks = [
    table(['', ''], rows),
    ...rejected.flatMap((refused) => refusedText(refused, said, room)),
    ...endText(round, said, room),
  ];
  return [
    opened === null ? `### Edit of event ${sequence}` : `### Round ${span(opened.editId)}`,
    // What the run alone knows of a round is short.
    ...(said.size === 0 ? blocks : [details(summaryOf(round), blocks)]),
  ].join('\n\n');
}

/** In words of ours. */
function summaryOf({ opened, rejected, end }: Round): string {
  const what = opened === null ? 'by a person' : `${opened.mode}, ${took(opened.openedAt, end && endedAt(end))}`;
  const refused = rejected.length === 0 ? '' : `, ${rejected.length} refused`;
  if (end === null) return `${what}${refused}, still open`;
  if (!('revision' in end)) return `${what}${refused}, given up`;
  return `${what}${refused}, ${(end.edits ?? []).length === 0 ? 'nothing changed' : `revision ${end.revision}`}`;
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

/** A try that the orchestrator refused: what was said and proposed, and why it was not taken. */
function refusedText(refused: Rejected, said: ReadonlyMap<string, PlanSaying>, room: Room): string[] {
  const { try: number, proposedBy, violations, lockPolicy } = refused;
  const saying = said.get(keyOfTry(refused));
  const edits = saying?.proposed?.edits ?? [];
  return [
    ...(saying === undefined ? [] : [`**Try ${number}**${byText(saying)}`, ...sayingText(saying, room)]),
    ...(edits.length === 0 ? [] : ['proposed:', editList(edits, room)]),
    `Try ${number} of ${span(proposedBy.id)} was refused; the lock is ${lockPolicy} from then on:`,
    bounded(
      violations.map((violation) => span(violationText(violation), TEXT_CHARS_MAX)),
      room,
    ),
  ];
}

/** What the round ended with. */
function endText({ opened, end }: Round, said: ReadonlyMap<string, PlanSaying>, room: Room): string[] {
  if (end === null) return [];
  if (!('revision' in end)) {
    const last = [...said.values()].findLast(({ editId, error }) => editId === opened?.editId && error !== null);
    return last === undefined ? [] : sayingText(last, room);
  }
  const { edits = [], trace = {}, try: number } = end;
  const changed = edits.length === 0 ? [] : ['What changed:', editList(edits, room)];
  const saying = opened === null ? undefined : said.get(keyOfTry({ editId: opened.editId, try: number ?? 1 }));
  // What was accepted stands in the run itself; what was answered with it only in the plan.
  if (saying === undefined) return [...changed, ...traceText(trace, room)];
  return [`**Try ${number ?? 1}**${byText(saying)}`, ...sayingText(saying, room), ...changed];
}

function byText({ by }: PlanSaying): string {
  return by === null ? '' : ` by ${span(by)}`;
}

function sayingText({ observation, thought, answer, error }: PlanSaying, room: Room): string[] {
  const why = error === null ? [] : [`It came to no plan: ${span(`${error.code}: ${error.message}`, TEXT_CHARS_MAX)}`];
  return [...traceText({ observation, thought, result: answer }, room), ...why];
}

/** Shown, never read: it says what it likes. */
function traceText(trace: EditTrace, { traceChars }: Room): string[] {
  return (['observation', 'thought', 'result'] as const).flatMap((what) => {
    const text = trace[what] ?? '';
    return text === '' ? [] : [`${what}:`, fence(cut(text, traceChars), 'text')];
  });
}

function editList(edits: readonly Edit[], room: Room): string {
  return bounded(
    edits.slice(0, room.editsMax).map((edit) => span(editText(edit), TEXT_CHARS_MAX)),
    room,
    edits.length,
  );
}

function bounded(items: readonly string[], { editsMax }: Room, count = items.length): string {
  return [list(items.slice(0, editsMax)), ...more(count, editsMax)].join('\n\n');
}

function endedAt(end: NonNullable<Round['end']>): string {
  return 'revision' in end ? end.modifiedAt : end.abandonedAt;
}

function took(from: string, until: string | null): string {
  return until === null ? 'open' : duration(Math.max(0, Date.parse(until) - Date.parse(from)));
}
