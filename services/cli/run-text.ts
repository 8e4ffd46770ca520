import { triggersText, violationText, wakerText } from '#libs/constellation';
import type { RunView } from '#proto';
import { cleanLine, clip } from './clean.js';
import { drawDag } from './dag-drawing.js';
import { durationText } from './duration.js';
import { answerText } from './result-text.js';
import { paintFor, paintStatus, type Paint } from './style.js';
import { renderTable } from './table.js';
import type { Terminal } from './terminal.js';
import { counted } from './timeline.js';

const RESULT_CHARS_MAX = 60;
const HELD_CHARS_MAX = 200;
/** Lines of a drawing when nobody knows how high the screen is. */
const ROWS_MAX = 60;

type Screen = Pick<Terminal, 'isTerminal' | 'color' | 'columns'>;

/** `fleet-health  RUNNING  2/3 tasks` and the constellation below it. */
export function drawingOf(view: RunView, screen: Screen, rows = ROWS_MAX): string[] {
  const paint = paintFor(screen);
  return [headline(view, paint), ...drawDag(view.tasks, view.lines, { columns: screen.columns, rows, paint })];
}

export function headline(view: RunView, paint: Paint): string {
  const { name, status, outcome, tasks, editing } = view;
  const ended = tasks.filter((task) => task.status !== 'PENDING' && task.status !== 'RUNNING').length;
  const end = outcome === null ? '' : ` ${paintStatus(paint, outcome)}`;
  const round = editing === null ? '' : `  round ${editing.editId} open`;
  return `${paint('bold', cleanLine(name))}  ${paintStatus(paint, status)}${end}  ${ended}/${tasks.length} tasks${round}`;
}

/** Everything about a run at a point: for `show`. */
export function runText(view: RunView, screen: Screen): string {
  const facts = [
    ['run', view.runId],
    ['request', view.requestId],
    ['requested', `${view.requestedAt} by ${view.requestedBy}`],
    ...(view.endedAt === null
      ? []
      : [['ended', `${view.endedAt} after ${durationBetween(view.requestedAt, view.endedAt)}`]]),
    ...(view.reason === null ? [] : [['reason', view.reason]]),
    ...(view.parent === null ? [] : [['forked from', `event ${view.parent.sequence} of run ${view.parent.runId}`]]),
    ...waitingFacts(view),
    ...(view.editing === null ? [] : roundFacts(view.editing)),
    ['events', `${view.sequence}, revision ${view.revision}`],
  ];
  const width = Math.max(...facts.map(([name = '']) => name.length));
  const parts = [
    drawingOf(view, screen).join('\n'),
    facts.map(([name = '', value = '']) => `${name.padEnd(width)}  ${cleanLine(value)}`).join('\n'),
    tasksTable(view, screen),
  ];
  if (view.lines.length > 0) parts.push(linesTable(view, screen));
  return parts.join('\n\n');
}

function waitingFacts({ waitingFor, tasks }: RunView): string[][] {
  if (waitingFor === null) return [];
  const held = tasks.filter((task) => task.held).map(({ id }) => id);
  return [
    ['waiting for', waitingFor.detail],
    ['woken by', wakerText(waitingFor)],
    ...(held.length === 0 ? [] : [['held', clip(held.join(', '), HELD_CHARS_MAX)]]),
  ];
}

/** The lock that is taken, what for, and why what was proposed so far could not be applied. */
function roundFacts(round: NonNullable<RunView['editing']>): string[][] {
  const { editId, mode, triggers, lockPolicy, openedAt, deadlineAt, tries, violations } = round;
  return [
    ['edit round', `${editId} (${mode}, ${lockPolicy}) about ${triggersText(triggers)}`],
    ['opened', `${openedAt}, until ${deadlineAt}, ${counted(tries, 'try', 'tries')} so far`],
    ...violations.map((violation) => ['refused', violationText(violation)]),
  ];
}

function tasksTable(view: RunView, screen: Screen): string {
  return renderTable(
    view.tasks,
    [
      { title: 'TASK', value: ({ id }) => id },
      { title: 'STATUS', value: ({ status }) => status, status: true },
      { title: 'DEVICE', value: ({ device }) => device ?? '-' },
      { title: 'ATTEMPTS', value: ({ attempts }) => String(attempts) },
      {
        title: 'TOOK',
        value: ({ startedAt, endedAt }) => (startedAt && endedAt ? durationBetween(startedAt, endedAt) : '-'),
      },
      { title: 'RESULT', value: resultText },
    ],
    screen,
  );
}

function linesTable(view: RunView, screen: Screen): string {
  return renderTable(
    view.lines,
    [
      { title: 'LINE', value: ({ id }) => id },
      { title: 'FROM', value: ({ from }) => from },
      { title: 'TO', value: ({ to }) => to },
      {
        title: 'TYPE',
        value: ({ type, condition }) => (condition === null ? type : `${type}: ${clip(condition, RESULT_CHARS_MAX)}`),
      },
      { title: 'SATISFIED', value: ({ satisfied, reason }) => satisfiedText(satisfied, reason) },
    ],
    screen,
  );
}

function satisfiedText(satisfied: boolean | null, reason: string | null): string {
  if (satisfied === null) return 'not yet judged';
  return satisfied ? 'yes' : `no${reason === null ? '' : `: ${reason}`}`;
}

function resultText({ result, error, reason, held }: RunView['tasks'][number]): string {
  if (held) return 'held by an edit that is open or owed';
  if (error !== null) return clip(cleanLine(`${error.code} ${error.message}`), RESULT_CHARS_MAX);
  if (reason !== null) return clip(cleanLine(reason), RESULT_CHARS_MAX);
  if (result === null) return '-';
  return clip(cleanLine(answerText(result.value)), RESULT_CHARS_MAX) || '-';
}

function durationBetween(from: string, to: string): string {
  return durationText(Date.parse(to) - Date.parse(from));
}
