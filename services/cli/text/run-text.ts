import {
  completeText,
  counted,
  isTalk,
  itemText,
  noteText,
  subtasksText,
  triggersText,
  UNDECIDED,
  violationText,
  writerText,
} from '#libs/constellation';
import { type ConversationItem, fileCount, fileTexts, labelsText, type RunNote, type RunView } from '#proto';
import {
  cleanLine,
  clipToWidth,
  durationText,
  momentText,
  paintFor,
  paintStatus,
  type Paint,
  renderTable,
  stopwatchText,
  type Terminal,
} from '../terminal/index.js';
import { drawDag } from './dag-drawing.js';
import { fanOutLines, fanOutOf, groupedIn, plannedIn } from './fan-out-text.js';
import { finalAnswerText } from './plan-text.js';
import { answerText } from './result-text.js';
import { wokenText, wordsToGoOn } from './wait-text.js';

const RESULT_CHARS_MAX = 60;
const HELD_CHARS_MAX = 200;
const SAYING_CHARS_MIN = 160;
/** Of all tasks together; who leaves more has a list of them stored. */
const FILES_MAX = 100;
/** Of a long one the start says what the run is; the rest is in the record of the run. */
const GOAL_CHARS_MAX = 500;
/** The devices of a task on several of them take no more than this part of the screen. */
const OPENED_PART = 4;
/** Lines of a drawing when nobody knows how high the screen is. */
const ROWS_MAX = 60;

type Screen = Pick<Terminal, 'isTerminal' | 'color' | 'columns'>;

/**
 * `fleet-health  RUNNING  2/3 tasks` and the constellation below it.
 * @param now in milliseconds since the epoch: with it each task that has started says for how long it runs, or ran
 */
export function drawingOf(view: RunView, screen: Screen, rows = ROWS_MAX, now?: number): string[] {
  const paint = paintFor(screen);
  const tasks = now === undefined ? view.tasks : view.tasks.map((task) => ({ ...task, ...clockAt(task, now) }));
  const { columns } = screen;
  const opened = fanOutLines({ tasks }, { columns, rows: Math.max(1, Math.floor(rows / OPENED_PART)), paint });
  // What would not leave the plan half of the screen is left out from below.
  const shown = opened.slice(0, Math.max(1, Math.floor(rows / 2)));
  const drawn = drawDag(plannedIn(tasks), view.lines, { columns, rows: rows - shown.length, paint });
  return [headline(view, paint), ...drawn, ...shown];
}

function clockAt({ startedAt, endedAt }: RunView['tasks'][number], now: number): { clock?: string } {
  if (startedAt === null) return {};
  return { clock: stopwatchText((endedAt === null ? now : Date.parse(endedAt)) - Date.parse(startedAt)) };
}

export function headline(view: RunView, paint: Paint): string {
  const { name, status, outcome, editing } = view;
  const tasks = plannedIn(view.tasks);
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
    ...(view.goal === null || view.goal === undefined ? [] : [['goal', clipToWidth(view.goal, GOAL_CHARS_MAX)]]),
    ['requested', `${momentText(view.requestedAt)} by ${view.requestedBy}`],
    ...(view.labels ? [['labels', labelsText(view.labels)]] : []),
    ...(view.judging === undefined ? [] : [['judged', view.judging]]),
    ...(view.endedAt === null
      ? []
      : [['ended', `${momentText(view.endedAt)} after ${durationBetween(view.requestedAt, view.endedAt)}`]]),
    ...(view.reason === null ? [] : [['reason', view.reason]]),
    ...recoveredFacts(view),
    ...(view.parent === null ? [] : [['forked from', `event ${view.parent.sequence} of run ${view.parent.runId}`]]),
    ...waitingFacts(view),
    ...(view.editing === null ? [] : roundFacts(view.editing)),
    ['events', `${view.sequence}, revision ${view.revision}`],
    ...usageFacts(view),
  ];
  const width = Math.max(...facts.map(([name = '']) => name.length));
  const parts = [
    drawingOf(view, screen).join('\n'),
    facts.map(([name = '', value = '']) => `${name.padEnd(width)}  ${cleanLine(value)}`).join('\n'),
    tasksTable(view, screen),
  ];
  if (view.lines.length > 0) parts.push(linesTable(view, screen));
  const left = filesLeft(view, screen);
  if (left.length > 0) parts.push(['Files:', ...left].join('\n'));
  if (view.conversation !== undefined && isTalk(view.conversation)) {
    parts.push(['Conversation:', ...view.conversation.map((item) => sayingLine(item, screen))].join('\n'));
  }
  const answer = finalAnswerText(view, screen);
  if (answer.length > 0) parts.push(answer.join('\n'));
  if (view.evaluation) parts.push(evaluationText(view.evaluation));
  if (view.board !== undefined) {
    parts.push([`Board (orrery board ${view.runId}):`, ...view.board.map(entryLine)].join('\n'));
  }
  if (view.notes) parts.push(['Notes:', ...view.notes.map(noteLine)].join('\n'));
  return parts.join('\n\n');
}

/** What tasks have left for others, by size and hash. */
function filesLeft({ tasks }: RunView, { columns }: Screen): string[] {
  const all = tasks.flatMap(({ id, result }) => {
    const files = (result?.files ?? []).filter(({ path }) => path !== undefined);
    return files.length === 0 ? [] : fileTexts({ ...result, files }).map((text) => `${id}: ${text}`);
  });
  const shown = all
    .slice(0, FILES_MAX)
    .map((line) => `  ${clipToWidth(cleanLine(line), Math.max(SAYING_CHARS_MIN, columns))}`);
  const more = all.length - shown.length;
  return more > 0 ? [...shown, `  and ${more} more; the JSON has them all`] : shown;
}

/** On one line, as far as it goes: the whole stands in the JSON. Whoever spoke may have put in anything. */
function sayingLine(item: ConversationItem, { columns }: Screen): string {
  const line = `${momentText(item.at)} ${itemText(item)}${item.text === '' ? '' : `: ${item.text}`}`;
  return `  ${clipToWidth(cleanLine(line), Math.max(SAYING_CHARS_MIN, 2 * columns))}`;
}

/** `  free_gb  3 bytes by attempt 1 of disk, revision 2`. */
function entryLine(entry: NonNullable<RunView['board']>[number]): string {
  const { name, bytes, revision, judge } = entry;
  const marks = `${revision === undefined ? '' : `, revision ${revision}`}${judge === true ? ', judged' : ''}`;
  return `  ${name}  ${counted(bytes, 'byte')} by ${cleanLine(writerText(entry))}${marks}`;
}

/** Its author may have put in anything. */
function noteLine(note: RunNote): string {
  return `  ${momentText(note.annotatedAt)} ${cleanLine(noteText(note))}`;
}

/** What a model found the run to be worth: the whole, the parts of the request, and each task that was tried. */
export function evaluationText(evaluation: NonNullable<RunView['evaluation']>): string {
  const { reason, sub_scores: scores, subtasks = [] } = evaluation;
  const rate = subtasksText(evaluation);
  return [
    `Evaluation: complete: ${completeText(evaluation)}`,
    cleanLine(reason),
    ...scores.map(({ name, evaluation: verdict }) => `  ${cleanLine(name)}: ${verdict}`),
    ...(rate === undefined ? [] : [`${rate}:`]),
    ...subtasks.map(
      ({ task_id: id, evaluation: verdict, reason: why = '' }) =>
        `  ${cleanLine(id)}: ${verdict}${why === '' ? '' : `, ${cleanLine(why)}`}`,
    ),
  ].join('\n');
}

/** What was used up of what may be. */
function usageFacts({ used, budget = {} }: RunView): string[][] {
  if (used === undefined) return [];
  const { llmCalls, tokens, commands, costUsd } = used;
  const of = (count: string, limit: string | undefined): string =>
    limit === undefined ? count : `${count} of ${limit}`;
  const parts = [
    of(counted(llmCalls, 'model call'), budget.llmCalls?.toString()),
    of(`${tokens.toLocaleString('en-US')} tokens`, budget.tokens?.toLocaleString('en-US')),
    of(counted(commands, 'command'), budget.commands?.toString()),
    ...(costUsd > 0 || budget.costUsd !== undefined
      ? [of(`$${costUsd.toFixed(4)}`, budget.costUsd === undefined ? undefined : `$${budget.costUsd.toFixed(2)}`)]
      : []),
  ];
  return [['used', parts.join(', ')]];
}

/** What failed and counts as done all the same. */
function recoveredFacts({ tasks }: RunView): string[][] {
  const recovered = tasks.flatMap(({ id, recoveredBy }) => (recoveredBy === null ? [] : `${id} by ${recoveredBy}`));
  return recovered.length === 0 ? [] : [['recovered', clipToWidth(recovered.join(', '), HELD_CHARS_MAX)]];
}

function waitingFacts(view: RunView): string[][] {
  const { waitingFor, tasks } = view;
  if (waitingFor === null) return [];
  const held = tasks.filter((task) => task.held).map(({ id }) => id);
  return [
    ['waiting for', waitingFor.detail],
    ['woken by', wokenText(waitingFor)],
    ...wordsToGoOn(view).map((words) => ['type', words]),
    ...(held.length === 0 ? [] : [['held', clipToWidth(held.join(', '), HELD_CHARS_MAX)]]),
  ];
}

/** The lock that is taken, what for, and why what was proposed so far could not be applied. */
function roundFacts(round: NonNullable<RunView['editing']>): string[][] {
  const { editId, mode, triggers, lockPolicy, openedAt, deadlineAt, tries, violations } = round;
  return [
    ['edit round', `${editId} (${mode}, ${lockPolicy}) about ${triggersText(triggers)}`],
    ['opened', `${momentText(openedAt)}, until ${momentText(deadlineAt)}, ${counted(tries, 'try', 'tries')} so far`],
    ...violations.map((violation) => ['refused', violationText(violation)]),
  ];
}

function tasksTable(view: RunView, screen: Screen): string {
  return renderTable(
    groupedIn(view.tasks),
    [
      { title: 'TASK', value: ({ id, part }) => (part === undefined ? id : `  ${id}`) },
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
        value: ({ type, condition }) =>
          condition === null ? type : `${type}: ${clipToWidth(condition, RESULT_CHARS_MAX)}`,
      },
      { title: 'SATISFIED', value: ({ satisfied, reason }) => satisfiedText(satisfied, reason) },
    ],
    screen,
  );
}

function satisfiedText(satisfied: boolean | null, reason: string | null): string {
  if (satisfied === null) return 'not yet judged';
  if (reason?.startsWith(UNDECIDED) === true) return reason;
  return satisfied ? 'yes' : `no${reason === null ? '' : `: ${reason}`}`;
}

function resultText(task: RunView['tasks'][number]): string {
  const { result, error, reason, held, recoveredBy } = task;
  const several = fanOutOf(task);
  const recovered = recoveredBy === null ? '' : `recovered by ${recoveredBy}; `;
  if (held) return 'held by an edit that is open or owed';
  if (error !== null) return clipToWidth(cleanLine(`${recovered}${error.code} ${error.message}`), RESULT_CHARS_MAX);
  if (reason !== null) return clipToWidth(cleanLine(`${recovered}${reason}`), RESULT_CHARS_MAX);
  if (several !== undefined) return several;
  if (result === null) return '-';
  const { value } = result;
  const came = fileCount(result) === 0 ? '' : `${counted(fileCount(result), 'file')}: `;
  return clipToWidth(cleanLine(`${came}${answerText(value)}`), RESULT_CHARS_MAX) || '-';
}

function durationBetween(from: string, to: string): string {
  return durationText(Date.parse(to) - Date.parse(from));
}
