import { labelsText, type LineView, type RunCommit, type RunEventData, type RunView, type TaskView } from '#proto';
import { LINE_KINDS } from '../plan/index.js';
import { foldRun } from '../fold/index.js';
import { type AttemptStory, type PlanSaying, triggersText, violationText, wakerText, viewOf } from '../views/index.js';
import { answerSection } from './report-answer.js';
import { attemptsSection } from './report-attempts.js';
import type { ReportedCommand } from './report-commands.js';
import { approvalsSection, usageSection } from './report-approvals.js';
import { dagDrawingOf, type Drawing, isUndecided, judgement, mermaid, textDag } from './report-dag.js';
import { editsSection } from './report-edits.js';
import { figuresSection } from './report-figures.js';
import { limited, more, REPORT_LIMITS } from './report-limits.js';
import { cell, cut, duration, fence, span, table } from './report-text.js';
import { partText } from './report-output.js';
import { plansSection, type PlanStep } from './report-plans.js';
import { boardSection, conversationSection, notesSection, timelineSection } from './report-timeline.js';

export interface ReportInput {
  readonly run: RunView;
  /** All commits of the run, in order. */
  readonly commits: readonly RunCommit[];
  readonly commands: readonly ReportedCommand[];
  /** What agents did; none of a run without agents. */
  readonly attempts?: readonly AttemptStory[];
  /** More is recorded of attempts than stands in `attempts`. */
  readonly attemptsAreCut?: boolean;
  /** Steps of the planner, in order; none for a run that nobody planned. */
  readonly plans?: readonly PlanStep[];
  /** What the planner said in its rounds; none for a run that nobody planned. */
  readonly sayings?: readonly PlanSaying[];
  /** More is recorded of plans than stands in `sayings`. */
  readonly sayingsAreCut?: boolean;
}

/**
 * One run as Markdown for people and auditors: what was asked, what became of it, and every command with what it printed.
 * Pure, so the same commits give the same report for ever. Everything foreign stands in code spans and fences that it
 * cannot leave.
 */
export function renderReport(input: ReportInput): string {
  const { run } = input;
  const sections = [
    `# Report of run ${span(run.name)}`,
    summary(run),
    answerSection(run),
    requestSection(input),
    forkSection(input),
    dagSection(input),
    figuresSection(input.commits),
    tasksSection(run),
    timelineSection(run, input.commits),
    conversationSection(input.commits),
    boardSection(input.commits),
    notesSection(run),
    plansSection(input.plans ?? []),
    editsSection(input),
    approvalsSection(input.commits),
    usageSection(input),
    attemptsSection(input),
    commandsSection(input),
    linesSection(run),
    skippedSection(run),
    verifySection(input),
  ];
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

function summary(run: RunView): string {
  const ms = run.endedAt === null ? null : Date.parse(run.endedAt) - Date.parse(run.requestedAt);
  const rows = [
    ['Run', cell(run.runId)],
    ['Request', cell(run.requestId)],
    ['Status', run.status],
    ['Outcome', run.outcome ?? (run.endedAt === null ? 'not yet known' : 'none')],
    ['Requested', `${cell(run.requestedAt)} by ${cell(run.requestedBy)}`],
    ...(run.labels ? [['Labels', cell(labelsText(run.labels), 1_000)]] : []),
    ['Ended', run.endedAt === null ? 'not yet' : `${cell(run.endedAt)}, after ${duration(ms ?? 0)}`],
    ['Constellation', `${run.tasks.length} tasks, ${run.lines.length} lines, revision ${run.revision}`],
    ...(run.reason === null ? [] : [['Reason', cell(run.reason, 1_000)]]),
    ...recovered(run),
    ...(run.parent === null ? [] : [['Forked from', `event ${run.parent.sequence} of run ${cell(run.parent.runId)}`]]),
    ...(run.waitingFor === null
      ? []
      : [
          ['Waiting for', cell(run.waitingFor.detail, 1_000)],
          ['Woken by', cell(wakerText(run.waitingFor))],
        ]),
    ...(run.editing === null ? [] : openRound(run.editing)),
  ];
  const counts = Object.entries(Object.groupBy(run.tasks, ({ status }) => status));
  const sentence = counts.map(([status, tasks]) => `${tasks.length} ${status}`).join(', ');
  return `${table(['', ''], rows)}\n\nTasks: ${sentence === '' ? 'none' : sentence}.`;
}

/** What failed and counts as done all the same. */
function recovered({ tasks }: RunView): string[][] {
  const named = tasks.flatMap(({ id, recoveredBy }) => (recoveredBy === null ? [] : `${id} by ${recoveredBy}`));
  return named.length === 0 ? [] : [['Recovered', cell(named.join(', '), 1_000)]];
}

function openRound({ editId, triggers, lockPolicy, deadlineAt, violations }: NonNullable<RunView['editing']>) {
  const about = `${cell(editId)} about ${cell(triggersText(triggers))}, lock ${lockPolicy}, until ${cell(deadlineAt)}`;
  return [
    ['Open edit round', about],
    ...violations.map((violation) => ['Refused', cell(violationText(violation), 1_000)]),
  ];
}

function requestSection({ commits }: ReportInput): string {
  const request = requestOf(commits);
  if (request === undefined) return '';
  const { goal, constellation, options, metadata, labels, deadlineAt } = request;
  const asked = JSON.stringify({ goal, constellation, options, metadata, labels }, null, 2);
  return [
    '## Request',
    `Deadline ${span(deadlineAt)}. The content as it was accepted:`,
    fence(cut(asked, REPORT_LIMITS.requestCharsMax), 'json'),
  ].join('\n\n');
}

/** What a forked run took over, and which run has what it did. */
function forkSection({ commits }: ReportInput): string {
  const forked = forkOf(commits);
  if (forked === undefined) return '';
  const { parent, goal, options, metadata, deadlineAt, requestedBy, tasks } = forked;
  const rows = tasks.map(({ star, status, attempt, ranIn }) => [
    cell(star.id),
    status,
    String(attempt),
    ranIn === null ? '-' : cell(ranIn),
  ]);
  return [
    '## Fork',
    `Taken over from run ${span(parent.runId)} as it stood after event ${parent.sequence}, commit ${parent.number}, ` +
      `whose hash is ${span(parent.hash)}; forked by ${span(requestedBy.id)}, deadline ${span(deadlineAt)}. What was asked:`,
    fence(cut(JSON.stringify({ goal, options, metadata }, null, 2), REPORT_LIMITS.requestCharsMax), 'json'),
    limited(['Task', 'Status then', 'Attempts', 'Ran in run'], rows),
  ].join('\n\n');
}

function dagSection({ run, commits }: ReportInput): string {
  const before = firstConstellation(commits);
  return [
    '## Constellation',
    ...(before === undefined ? [] : ['### Before', mermaid(before)]),
    run.endedAt === null ? '### Now' : '### After',
    mermaid(run),
    fence(textDag(run), 'text'),
  ].join('\n\n');
}

function tasksSection(run: RunView): string {
  const rows = run.tasks.map((task) => [
    cell(task.id),
    cell(task.name),
    task.status,
    String(task.attempts),
    task.device === null ? '-' : cell(task.device),
    taskTime(task),
    cell(whyOf(task)),
  ]);
  const head = ['Task', 'Name', 'Status', 'Attempts', 'Device', 'Last attempt', 'Why'];
  return `## Tasks\n\n${limited(head, rows)}`;
}

function whyOf({ error, reason, held }: TaskView): string {
  if (held) return 'held by an edit that is open or owed';
  return error === null ? (reason ?? '-') : `${error.code}: ${error.message}`;
}

function taskTime({ startedAt, endedAt }: TaskView): string {
  if (startedAt === null) return '-';
  return endedAt === null ? 'running' : duration(Math.max(0, Date.parse(endedAt) - Date.parse(startedAt)));
}

function commandsSection({ commits, commands }: ReportInput): string {
  // What agents ran stands with their steps.
  const attempts = commits.flatMap(({ events }) =>
    events.flatMap((e) => (e.type === 'TASK_STARTED' && e.data.command !== undefined ? [e.data] : [])),
  );
  const byAttempt = Map.groupBy(commands, ({ taskId, attempt }) => `${taskId} ${attempt}`);
  const { outputsCharsMax, outputCharsMax, outputCharsMin, rowsMax } = REPORT_LIMITS;
  const share = Math.floor(outputsCharsMax / Math.max(1, 2 * commands.length));
  const charsMax = Math.max(outputCharsMin, Math.min(outputCharsMax, share));
  const blocks = attempts.slice(0, rowsMax).flatMap((started) => {
    const ended = byAttempt.get(`${started.taskId} ${started.attempt}`) ?? [];
    return ended.length === 0 ? [openCommand(started)] : ended.map((command) => endedCommand(command, charsMax));
  });
  if (blocks.length === 0) return '## Commands\n\nNo command was started.';
  return ['## Commands', ...blocks, ...more(attempts.length)].join('\n\n');
}

/** Started, and no end is recorded: it runs, or nobody knows what became of it. */
function openCommand({ taskId, attempt, deviceId, command }: RunEventData<'TASK_STARTED'>): string {
  if (command === undefined) return '';
  return [
    `### Task ${span(taskId)}, attempt ${attempt}`,
    `${span(command.tool)} on ${span(deviceId)}: no end of this command is recorded.`,
    commandLine(command.tool, command.arguments),
  ].join('\n\n');
}

function endedCommand(command: ReportedCommand, charsMax: number): string {
  const { taskId, attempt, commandId, deviceId, tool, state, exitCode, startedAt, durationMs, error } = command;
  const rows = [
    ['Command', cell(commandId)],
    ['Device', cell(deviceId)],
    ['State', state],
    ['Exit code', exitCode === null ? '-' : String(exitCode)],
    ['Duration', durationMs === null ? '-' : duration(durationMs)],
    ['Started (clock of the device)', startedAt === null ? '-' : cell(startedAt)],
    ...(error === null ? [] : [['Error', cell(error, 1_000)]]),
  ];
  const outputs = [
    ['stdout', command.stdout],
    ['stderr', command.stderr],
    ['result', command.output],
  ] as const;
  return [
    `### Task ${span(taskId)}, attempt ${attempt}`,
    commandLine(tool, command.arguments),
    table(['', ''], rows),
    ...outputs.flatMap(([what, text]) => (text ? [`${what}:`, fence(cut(text, charsMax), 'text')] : [])),
    ...(command.cut ?? []).map(partText),
  ].join('\n\n');
}

/** The exact command line; what else the tool was given follows as JSON. */
function commandLine(tool: string, { command, ...rest }: ReportedCommand['arguments']): string {
  const exact = typeof command === 'string';
  const others = exact ? rest : { ...rest, ...(command === undefined ? {} : { command }) };
  const json = Object.keys(others).length === 0 ? '' : JSON.stringify(others);
  const max = REPORT_LIMITS.commandLineCharsMax;
  const blocks = [
    ...(exact ? [fence(cut(command, max), 'sh')] : []),
    ...(json === '' && exact
      ? []
      : [`${span(tool)} ${exact ? 'also got' : 'got'}`, fence(cut(json || '{}', max), 'json')]),
  ];
  return blocks.join('\n\n');
}

function satisfiedWord({ satisfied, reason }: LineView): string {
  if (satisfied === null) return 'not judged';
  if (satisfied) return 'yes';
  return isUndecided(reason) ? 'undecided' : 'no';
}

function linesSection(run: RunView): string {
  if (run.lines.length === 0) return '';
  const rows = run.lines.map((line) => [
    cell(line.id),
    `${cell(line.from)} to ${cell(line.to)}`,
    cell(line.condition === null ? line.type : `${line.type}: ${line.condition}`),
    satisfiedWord(line),
    cell(line.satisfied === true ? LINE_KINDS[line.type].why : (line.reason ?? judgement(line))),
  ]);
  return `## Lines\n\n${limited(['Line', 'Tasks', 'Type', 'Satisfied', 'Why'], rows)}`;
}

function skippedSection(run: RunView): string {
  const skipped = run.tasks.filter(({ status }) => status === 'SKIPPED' || status === 'CANCELLED');
  if (skipped.length === 0) return '';
  const rows = skipped.map(({ id, status, reason }) => [cell(id), status, cell(reason ?? '-', 1_000)]);
  return `## Skipped and cancelled tasks\n\n${limited(['Task', 'Status', 'Reason'], rows)}`;
}

function verifySection({ run, commits }: ReportInput): string {
  const last = commits.at(-1);
  if (last === undefined) return '';
  return [
    '## How to verify this report',
    `It tells the run up to event ${run.sequence}, commit ${last.number}, whose hash is ${span(last.hash)}.`,
    'A hash is the SHA-256 over the RFC 8785 canonical JSON of the stored commit without its field `hash`; it covers the ' +
      'hash of the commit before it (`prevHash`), so one changed byte anywhere in the history changes the last hash.',
    fence(`orrery verify ${run.runId}`, 'sh'),
    'computes all hashes again from the log. Of a file that `orrery export` wrote, only one who knows a hash can tell that it ' +
      'is the same history:',
    fence(`orrery verify FILE --head ${last.hash}`, 'sh'),
  ].join('\n\n');
}

/** As it was requested, taken over, or made by the planner in its first round; without what became of it. */
function firstConstellation(commits: readonly RunCommit[]): Drawing | undefined {
  const requested = requestOf(commits)?.constellation ?? null;
  if (requested !== null) return dagDrawingOf(requested);
  const made = commits.findIndex(({ events }) => events.some(({ type }) => CREATIONS.has(type)));
  const run = made < 0 ? undefined : foldRun(commits.slice(0, made + 1));
  if (run === undefined) return undefined;
  const { tasks, lines } = viewOf(run);
  return {
    tasks: tasks.map(({ id, name }) => ({ id, name })),
    lines: lines.map(({ id, from, to, type, condition }) => ({ id, from, to, type, condition })),
  };
}

const CREATIONS: ReadonlySet<string> = new Set(['RUN_FORKED', 'CONSTELLATION_MODIFIED']);

function forkOf(commits: readonly RunCommit[]): RunEventData<'RUN_FORKED'> | undefined {
  const [first] = commits[0]?.events ?? [];
  return first?.type === 'RUN_FORKED' ? first.data : undefined;
}

function requestOf(commits: readonly RunCommit[]): RunEventData<'RUN_REQUESTED'> | undefined {
  const [first] = commits[0]?.events ?? [];
  return first?.type === 'RUN_REQUESTED' ? first.data : undefined;
}
