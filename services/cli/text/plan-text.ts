import {
  completeText,
  type ConstellationDiff,
  counted,
  editText,
  type FieldChange,
  LINE_KINDS,
  planStepsOf,
  subtasksText,
  triggersText,
  violationText,
  targetText,
} from '#libs/constellation';
import type {
  Edit,
  ModelCall,
  PlanCommit,
  PlanEvent,
  Proposal,
  RunCommit,
  RunView,
  TaskConstellation,
  TaskStar,
  LineType,
} from '#proto';
import {
  cleanLine,
  clipToWidth,
  clockText,
  paintFor,
  paintStatus,
  type Paint,
  renderTable,
  type Terminal,
} from '../terminal/index.js';
import { callsText, problemLines } from './model-calls.js';

const TEXT_CHARS_MAX = 2_000;
const CELL_CHARS_MAX = 100;
/** What is shown of a long value before the place where it changed. */
const LEAD_CHARS = 20;
const NAME_CHARS_MAX = 30;
const EDITS_SHOWN_MAX = 50;

type Screen = Pick<Terminal, 'isTerminal' | 'color' | 'columns'>;

/** What the planner was asked, thought and proposed, and what became of it, in the order in which it happened. */
export function planningText(
  plans: readonly PlanCommit[],
  commits: readonly RunCommit[],
  screen: Pick<Terminal, 'color'>,
): string[] {
  const paint = paintFor(screen);
  const told: string[] = [];
  const say = (at: string, [first, ...more]: readonly string[]): void => {
    if (first !== undefined) told.push(`${clockText(at)} ${first}`, ...more.map((line) => `          ${line}`));
  };
  const waiting = [...plans];
  /** What led to an event stands before it, whatever the clocks of two services say. */
  const sayUpTo = (hash: string | null | undefined): void => {
    const count = waiting.findIndex((commit) => commit.hash === hash) + 1;
    for (const { at, events } of waiting.splice(0, count)) for (const event of events) say(at, planLines(event, paint));
  };
  for (const { at, events } of commits) {
    for (const event of events) {
      if ('planHash' in event.data) sayUpTo(event.data.planHash);
      say(at, roundLines(event, paint));
    }
  }
  sayUpTo(waiting.at(-1)?.hash);
  return told;
}

/** `3 rounds by gpt-x and rules, 5 model calls, 12,000 tokens, $0.0200`. */
export function planningSummary(plans: readonly PlanCommit[]): string {
  const steps = planStepsOf(plans);
  const rounds = new Set(steps.flatMap(({ editId }) => editId ?? []));
  const sum = (of: (step: (typeof steps)[number]) => number) => steps.reduce((total, step) => total + of(step), 0);
  const cost = sum(({ costUsd }) => costUsd);
  const models = [...new Set(steps.flatMap(({ model }) => model ?? []))].map(cleanLine);
  return [
    counted(rounds.size, 'round'),
    counted(
      sum(({ calls }) => calls),
      'model call',
    ),
    ...(models.length === 0
      ? []
      : [models.join(', '), `${sum(({ tokens }) => tokens).toLocaleString('en-US')} tokens`]),
    ...(cost > 0 ? [`$${cost.toFixed(4)}`] : []),
  ].join(', ');
}

function planLines(event: PlanEvent, paint: Paint): string[] {
  switch (event.type) {
    case 'ROUND_PLANNED': {
      const { editId, try: count, mode, source, runbook, calls, examples = [] } = event.data;
      const by = runbook === undefined ? source : `runbook ${runbook.name}`;
      return [
        `${paint('bold', `${editId} try ${count}`)} ${mode} by ${cleanLine(by)}${spentText(calls)}`,
        ...(runbook === undefined ? [] : [`parameters: ${cleanLine(JSON.stringify(runbook.parameters))}`]),
        ...(examples.length === 0 ? [] : [`shown examples: ${cleanLine(examples.join(', '))}`]),
        ...problemLines(calls),
      ];
    }
    case 'PLAN_PROPOSED':
      return proposalLines(event.data.proposal, paint);
    case 'ROUND_FAILED': {
      const { editId, try: count, error, calls } = event.data;
      return [
        `${paint('bold', `${editId} try ${count}`)} ${paint('red', cleanLine(error.code))}${spentText(calls)}: ${clipToWidth(cleanLine(error.message), TEXT_CHARS_MAX)}`,
        ...problemLines(calls),
      ];
    }
    case 'RUN_EVALUATED': {
      const { evaluation, calls } = event.data;
      return [
        `${paint('bold', 'evaluation')} complete: ${completeText(evaluation)}${spentText(calls)}`,
        clipToWidth(cleanLine(evaluation.reason), TEXT_CHARS_MAX),
        ...evaluation.sub_scores.map(({ name, evaluation: verdict }) => `${cleanLine(name)}: ${verdict}`),
        ...[subtasksText(evaluation)].flatMap((rate) => rate ?? []),
      ];
    }
    case 'RUN_SUMMARISED':
      return [`${paint('bold', 'learnt')} example ${cleanLine(event.data.exampleId)}${spentText(event.data.calls)}`];
  }
}

function proposalLines(
  { editId, try: count, state, edits, trace = {}, spare = [], answer }: Proposal,
  paint: Paint,
): string[] {
  return [
    `${paint('bold', `${editId ?? 'edit'} try ${count}`)} proposes ${paintStatus(paint, state)}: ${counted(edits.length, 'edit')}`,
    ...Object.entries(trace).flatMap(([what, text]) =>
      text === undefined || text === '' ? [] : [`${what}: ${clipToWidth(cleanLine(text), TEXT_CHARS_MAX)}`],
    ),
    ...editLines(edits),
    // The person who accepts the plan accepts that, too.
    ...(spare.length === 0 ? [] : [`may later use: ${cleanLine(spare.map(targetText).join('; '))}`]),
    ...(answer === undefined ? [] : [`rests on: ${cleanLine(answer.evidence.join(', ')) || 'nothing'}`]),
  ];
}

function editLines(edits: readonly Edit[]): string[] {
  const shown = edits.slice(0, EDITS_SHOWN_MAX).map((edit) => clipToWidth(cleanLine(editText(edit)), TEXT_CHARS_MAX));
  const more = edits.length - shown.length;
  return more > 0 ? [...shown, `and ${more} more`] : shown;
}

function roundLines(event: RunCommit['events'][number], paint: Paint): string[] {
  switch (event.type) {
    case 'EDIT_OPENED': {
      const { editId, mode, triggers, revision } = event.data;
      return [
        `${paint('bold', editId)} opened: ${mode} about ${cleanLine(triggersText(triggers))}, revision ${revision}`,
      ];
    }
    case 'EDIT_REJECTED': {
      const { editId, try: count, violations } = event.data;
      const head = `${paint('bold', `${editId} try ${count}`)} ${paint('red', 'refused')}`;
      return [head, ...violations.map((violation) => cleanLine(violationText(violation)))];
    }
    case 'EDIT_ABANDONED': {
      const { editId, reason } = event.data;
      return [`${paint('bold', editId)} ${paint('red', 'given up')}: ${reason.code} ${cleanLine(reason.message)}`];
    }
    case 'CONSTELLATION_MODIFIED': {
      const { editId, revision, tasks, lines, edits, proposedBy, planHash } = event.data;
      if (edits === undefined) return [];
      const what = edits.length === 0 ? `nothing changed, revision ${revision}` : `revision ${revision}`;
      const sizes = `${counted(tasks, 'task')}, ${counted(lines, 'line')}`;
      const whose = editId === undefined ? `edit of ${cleanLine(proposedBy?.id ?? 'somebody')}` : editId;
      const told = typeof planHash === 'string'; // by the proposal that stands before it
      return [
        `${paint('bold', whose)} ${paint('green', 'accepted')}: ${what}, ${sizes}`,
        ...(told ? [] : editLines(edits)),
      ];
    }
    default:
      return [];
  }
}

/** ` (gpt-x, 2 calls, 1,200 tokens, 3.1 s)`; empty when no model was asked. */
function spentText(calls: readonly ModelCall[]): string {
  return calls.length === 0 ? '' : ` (${callsText(calls)})`;
}

/** A plan as a person reads it before anything starts: who does what, after what. */
export function constellationText({ tasks, lines }: TaskConstellation, screen: Screen): string {
  const before = Map.groupBy(lines, ({ to }) => to);
  return renderTable(
    tasks,
    [
      { title: 'TASK', value: ({ id }) => id },
      { title: 'ON', value: ({ target }) => targetText(target) },
      { title: 'DOES', value: (task) => clipToWidth(cleanLine(workText(task)), CELL_CHARS_MAX) },
      {
        title: 'AFTER',
        value: ({ id }) =>
          (before.get(id) ?? []).map(({ from, type, condition }) => afterText(from, type, condition)).join(', ') || '-',
      },
    ],
    screen,
  );
}

function workText({ id, name, description, command, review }: TaskStar): string {
  const exact = command === undefined ? undefined : `${command.tool} ${JSON.stringify(command.arguments)}`;
  // A long name must not push what runs out of sight.
  const title = exact === undefined ? name : clipToWidth(name, NAME_CHARS_MAX);
  const work = exact !== undefined && name === id ? exact : `${title}: ${exact ?? description}`;
  return review === true ? `${work} (is reviewed)` : work;
}

function afterText(from: string, type: LineType, condition: string | undefined): string {
  return condition === undefined
    ? `${from}${LINE_KINDS[type].after}`
    : `${from} if ${clipToWidth(condition, CELL_CHARS_MAX)}`;
}

/** One line per difference: `+ task d on web-1`, `- line a-b`, `~ task c: target web-1 -> db-1`. */
export function diffText(
  { name, tasks, lines, isEmpty }: ConstellationDiff,
  screen: Pick<Terminal, 'color'>,
): string[] {
  const paint = paintFor(screen);
  if (isEmpty) return ['no difference'];
  const put = (text: string): string => paint('green', `+ ${clipToWidth(cleanLine(text), TEXT_CHARS_MAX)}`);
  const taken = (text: string): string => paint('red', `- ${clipToWidth(cleanLine(text), TEXT_CHARS_MAX)}`);
  const changed = (what: string, { id, fields }: { id: string; fields: readonly FieldChange[] }): string[] =>
    fields.map(({ field, before, after }) =>
      paint(
        'yellow',
        `~ ${clipToWidth(cleanLine(`${what} ${id}: ${field} ${changeText(before, after)}`), TEXT_CHARS_MAX)}`,
      ),
    );
  return [
    ...(name === null ? [] : [paint('yellow', `~ name: ${cleanLine(name.before)} -> ${cleanLine(name.after)}`)]),
    ...tasks.added.map((task) => put(`task ${task.id} on ${targetText(task.target)}: ${workText(task)}`)),
    ...tasks.removed.map(({ id }) => taken(`task ${id}`)),
    ...tasks.changed.flatMap((change) => changed('task', change)),
    ...lines.added.map(({ from, to, type, condition }) => put(`line ${from} -> ${to} (${condition ?? type})`)),
    ...lines.removed.map(({ from, to }) => taken(`line ${from} -> ${to}`)),
    ...lines.changed.flatMap((change) => changed('line', change)),
  ];
}

/** Of long values the part from a little before they differ. */
function changeText(before: unknown, after: unknown): string {
  const [was, is] = [Array.from(valueText(before)), Array.from(valueText(after))];
  const differ = was.findIndex((character, index) => character !== is[index]);
  const start = Math.max(was.length, is.length) > CELL_CHARS_MAX ? Math.max(0, differ - LEAD_CHARS) : 0;
  const part = (text: readonly string[]): string =>
    clipToWidth(`${start > 0 ? '…' : ''}${text.slice(start).join('')}`, CELL_CHARS_MAX);
  return `${part(was)} -> ${part(is)}`;
}

function valueText(value: unknown): string {
  if (value === undefined) return 'not set';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The reply to the requester, what was not done, and what it rests on. */
export function finalAnswerText({ answer }: Pick<RunView, 'answer'>, screen: Pick<Terminal, 'color'>): string[] {
  if (answer === null || answer === undefined) return [];
  const paint = paintFor(screen);
  const evidence = answer.evidence.map(
    ({ taskId, attempt, deviceId }) => `${taskId}.${attempt}${deviceId === null ? '' : ` on ${deviceId}`}`,
  );
  return [
    paint('bold', 'Answer'),
    // No line of it can look like one of ours.
    ...answer.text.split('\n').map((line) => `  ${cleanLine(line)}`.trimEnd()),
    ...answer.failures.map(({ taskId, status, message, recoveredBy }) =>
      recoveredBy === undefined
        ? paint('red', cleanLine(`not done: ${taskId} ${status}: ${message}`))
        : cleanLine(`recovered: ${taskId} ${status}: ${message}; ${recoveredBy} did it instead`),
    ),
    ...(evidence.length === 0 ? [] : [`rests on ${cleanLine(evidence.join(', '))}`]),
  ];
}
