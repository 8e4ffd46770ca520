import type { RecordedRunEvent, RunCommit, RunEventData, RunView, TaskView } from '#proto';
import { assertNever } from './evolve.js';
import { drawingOf, judgement, mermaid, textDag } from './report-dag.js';
import { cell, cut, duration, fence, span, table } from './report-text.js';
import type { CommandRecord } from './report-commands.js';

export interface ReportInput {
  readonly run: RunView;
  /** All commits of the run, in order. */
  readonly commits: readonly RunCommit[];
  readonly commands: readonly CommandRecord[];
}

export const REPORT_LIMITS = {
  /** Of stdout and of stderr of one command; less when there are many commands. */
  outputCharsMax: 8_000,
  outputCharsMin: 400,
  /** Of the outputs of all commands together. */
  outputsCharsMax: 2_000_000,
  commandLineCharsMax: 20_000,
  requestCharsMax: 100_000,
  rowsMax: 2_000,
} as const;

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
    requestSection(input),
    dagSection(input),
    tasksSection(run),
    timelineSection(input),
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
    ['Ended', run.endedAt === null ? 'not yet' : `${cell(run.endedAt)}, after ${duration(ms ?? 0)}`],
    ['Constellation', `${run.tasks.length} tasks, ${run.lines.length} lines, revision ${run.revision}`],
    ...(run.reason === null ? [] : [['Reason', cell(run.reason, 1_000)]]),
    ...(run.waitingFor === null ? [] : [['Waiting for', cell(run.waitingFor.detail)]]),
  ];
  const counts = Object.entries(Object.groupBy(run.tasks, ({ status }) => status));
  const sentence = counts.map(([status, tasks]) => `${tasks.length} ${status}`).join(', ');
  return `${table(['', ''], rows)}\n\nTasks: ${sentence === '' ? 'none' : sentence}.`;
}

function requestSection({ commits }: ReportInput): string {
  const request = requestOf(commits);
  if (request === undefined) return '';
  const { goal, constellation, options, metadata, deadlineAt } = request;
  const asked = JSON.stringify({ goal, constellation, options, metadata }, null, 2);
  return [
    '## Request',
    `Deadline ${span(deadlineAt)}. The content as it was accepted:`,
    fence(cut(asked, REPORT_LIMITS.requestCharsMax), 'json'),
  ].join('\n\n');
}

function dagSection({ run, commits }: ReportInput): string {
  const requested = requestOf(commits)?.constellation ?? null;
  return [
    '## Constellation',
    ...(requested === null ? [] : ['### Before', mermaid(drawingOf(requested))]),
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
    cell(task.error === null ? (task.reason ?? '-') : `${task.error.code}: ${task.error.message}`),
  ]);
  const head = ['Task', 'Name', 'Status', 'Attempts', 'Device', 'Last attempt', 'Why'];
  return `## Tasks\n\n${limited(head, rows)}`;
}

function taskTime({ startedAt, endedAt }: TaskView): string {
  if (startedAt === null) return '-';
  return endedAt === null ? 'running' : duration(Math.max(0, Date.parse(endedAt) - Date.parse(startedAt)));
}

function timelineSection({ run, commits }: ReportInput): string {
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

/** One event in words; foreign text in cells. */
function happened(event: RecordedRunEvent): string {
  switch (event.type) {
    case 'RUN_REQUESTED':
      return `by ${cell(event.data.requestedBy.id)}`;
    case 'CONSTELLATION_MODIFIED':
      return `revision ${event.data.revision}: ${event.data.tasks} tasks, ${event.data.lines} lines`;
    case 'TASK_STARTED':
      return `${cell(event.data.taskId)} attempt ${event.data.attempt} on ${cell(event.data.deviceId)}`;
    case 'TASK_COMPLETED':
      return `${cell(event.data.taskId)} attempt ${event.data.attempt}`;
    case 'TASK_FAILED': {
      const { taskId, attempt, error } = event.data;
      return `${cell(taskId)} attempt ${attempt}: ${cell(`${error.code}: ${error.message}`)}`;
    }
    case 'TASK_STOP_REQUESTED':
      return `${cell(event.data.taskId)} attempt ${event.data.attempt}: ${cell(event.data.reason)}`;
    case 'TASK_REOPENED':
      return `${cell(event.data.taskId)} after attempt ${event.data.attempt}, not before ${cell(event.data.notBefore)}`;
    case 'TASK_SKIPPED':
      return `${cell(event.data.taskId)} by ${event.data.by}: ${cell(event.data.reason)}`;
    case 'TASK_CANCELLED':
      return `${cell(event.data.taskId)}: ${cell(event.data.reason)}`;
    case 'RUN_COMPLETED':
      return event.data.outcome;
    case 'RUN_FAILED':
      return cell(`${event.data.reason.code}: ${event.data.reason.message}`);
    case 'RUN_PAUSED':
      return cell(event.data.reason);
    case 'RUN_ANNOTATED':
      return `${cell(event.data.taskId)} attempt ${event.data.attempt}: ${cell(event.data.text)}`;
    default:
      return assertNever(event);
  }
}

function commandsSection({ commits, commands }: ReportInput): string {
  const attempts = commits.flatMap(({ events }) => events.flatMap((e) => (e.type === 'TASK_STARTED' ? [e.data] : [])));
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
  return [
    `### Task ${span(taskId)}, attempt ${attempt}`,
    `${span(command.tool)} on ${span(deviceId)}: no end of this command is recorded.`,
    commandLine(command.tool, command.arguments),
  ].join('\n\n');
}

function endedCommand(command: CommandRecord, charsMax: number): string {
  const { taskId, attempt, commandId, deviceId, tool, state, exitCode, startedAt, durationMs, error, artifact } =
    command;
  const rows = [
    ['Command', cell(commandId)],
    ['Device', cell(deviceId)],
    ['State', state],
    ['Exit code', exitCode === null ? '-' : String(exitCode)],
    ['Duration', durationMs === null ? '-' : duration(durationMs)],
    ['Started (clock of the device)', startedAt === null ? '-' : cell(startedAt)],
    ...(error === null ? [] : [['Error', cell(error, 1_000)]]),
    ...(artifact === null ? [] : [['Whole output', `artifact ${cell(artifact)}`]]),
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
  ].join('\n\n');
}

/** The exact command line; what else the tool was given follows as JSON. */
function commandLine(tool: string, { command, ...rest }: CommandRecord['arguments']): string {
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

function linesSection(run: RunView): string {
  if (run.lines.length === 0) return '';
  const rows = run.lines.map((line) => [
    cell(line.id),
    `${cell(line.from)} to ${cell(line.to)}`,
    cell(line.condition === null ? line.type : `${line.type}: ${line.condition}`),
    line.satisfied === null ? 'not judged' : line.satisfied ? 'yes' : 'no',
    cell(line.satisfied === true ? whySatisfied(line.type) : (line.reason ?? judgement(line))),
  ]);
  return `## Lines\n\n${limited(['Line', 'Tasks', 'Type', 'Satisfied', 'Why'], rows)}`;
}

function whySatisfied(type: RunView['lines'][number]['type']): string {
  if (type === 'unconditional') return 'the predecessor ended';
  return type === 'success-only' ? 'the predecessor completed' : 'the condition held for the result of the predecessor';
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
    'computes all hashes again from the log and prints the last one.',
  ].join('\n\n');
}

function requestOf(commits: readonly RunCommit[]): RunEventData<'RUN_REQUESTED'> | undefined {
  const [first] = commits[0]?.events ?? [];
  return first?.type === 'RUN_REQUESTED' ? first.data : undefined;
}

function limited(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [table(head, rows.slice(0, REPORT_LIMITS.rowsMax)), ...more(rows.length)].join('\n\n');
}

function more(count: number): string[] {
  const left = count - REPORT_LIMITS.rowsMax;
  return left > 0 ? [`${left} more are in the log, not in this report.`] : [];
}
