import { type FinalAnswer, type Json, LIMITS, type Proposal, type TaskId, type TaskResult } from '#proto';
import { jsonBytes } from '../values/index.js';
import { hasNotDelivered, recoveriesOf } from '../edits/index.js';
import { type Run, type TaskState, findTask, hasPlan } from '../state/index.js';

/** Of one task in a collected answer, and of why one was not done. */
const EXCERPT_CHARS_MAX = 300;
/** A longer command is left out of the evidence: it stands in the history, and an end has to fit into its commit. */
const COMMAND_BYTES_MAX = 1_024;

type Evidence = FinalAnswer['evidence'][number];
type Failure = FinalAnswer['failures'][number];

/** What a run answers when nobody has written an answer: what its last tasks said, and plainly what was not done. */
export function collectAnswer(run: Run): FinalAnswer {
  const evidence: Evidence[] = [];
  for (const task of run.tasks) {
    if (task.status === 'COMPLETED' && evidence.length < LIMITS.evidenceMax) evidence.push(...evidenceOf(task));
  }
  return { text: collectedText(run), by: 'collected', evidence, failures: failuresOf(run) };
}

/** The planner's words, with what they rest on and what was not done, as the run knows it. */
export function answerOf(
  run: Run,
  { text, evidence }: NonNullable<Proposal['answer']>,
  by: FinalAnswer['by'],
): FinalAnswer {
  return { text, by, evidence: named(run, evidence), failures: failuresOf(run) };
}

/** Of a run that is about to end. What was not done is said as it is then, no matter which planner wrote the rest. */
export function answerAtEnd(run: Run): FinalAnswer | undefined {
  if (run.ending?.reason === 'cancelled') return undefined;
  if (run.ending?.answer) return { ...run.ending.answer, failures: failuresOf(run) };
  return run.request?.goal === null ? undefined : collectAnswer(run);
}

/** A task that is not there, or has not ended, is no evidence. */
function named(run: Run, taskIds: readonly TaskId[]): Evidence[] {
  return [...new Set(taskIds)]
    .flatMap((taskId) => {
      const task = findTask(run, taskId);
      return task === undefined ? [] : evidenceOf(task);
    })
    .slice(0, LIMITS.evidenceMax);
}

function evidenceOf({ star, status, attempt, deviceId }: TaskState): Evidence[] {
  if (attempt === 0 || status === 'PENDING' || status === 'RUNNING') return [];
  const { id: taskId, command } = star;
  const isShort = command !== undefined && jsonBytes(command) <= COMMAND_BYTES_MAX;
  return [{ taskId, attempt, deviceId, ...(isShort ? { command } : {}) }];
}

/** A task that a condition passed by was not to be done. */
function failuresOf(run: Run): Failure[] {
  const failures: Failure[] = [];
  const recovered = recoveriesOf(run);
  for (const task of run.tasks) {
    if (failures.length === LIMITS.evidenceMax) break;
    const { star, status } = task;
    if (!hasNotDelivered(task)) continue;
    const recoveredBy = recovered.get(star.id);
    const by = recoveredBy === undefined ? {} : { recoveredBy };
    failures.push({ taskId: star.id, status, message: excerpt(whyUndone(task)), ...by });
  }
  return failures;
}

function whyUndone({ status, error, reason }: TaskState): string {
  if (status === 'FAILED') return error.message;
  if (status === 'SKIPPED') return reason;
  return reason === 'finished'
    ? 'the run was finished before it was done'
    : `cancelled: ${reason ?? 'nobody said why'}`;
}

/**
 * What the last tasks of the plan have to say, in full as far as there is room; of those whose results went into others nothing;
 * and a line for each task that was not done.
 */
function collectedText(run: Run): string {
  const { COMPLETED, FAILED, SKIPPED, CANCELLED } = run.counts;
  const parts = [`${COMPLETED} of ${run.tasks.length} ${run.tasks.length === 1 ? 'task' : 'tasks'} completed`];
  if (FAILED > 0) parts.push(`${FAILED} failed`);
  if (SKIPPED > 0) parts.push(`${SKIPPED} skipped`);
  if (CANCELLED > 0) parts.push(`${CANCELLED} cancelled`);
  const head = run.tasks.length === 0 ? 'Nothing was done.' : `${parts.join(', ')}.`;
  const lines = [head, ...unjudgedLines(run), ...undoneLines(run)];
  const speakers = lastOf(run);
  let left = LIMITS.answerCharsMax - lines.join('\n').length - MORE.length;
  let told = 0;
  for (const task of speakers) {
    const share = Math.floor(left / (speakers.length - told));
    if (share < SHARE_CHARS_MIN) break;
    const said = saidBy(task, share);
    left -= said.length + 1;
    lines.push(said);
    told++;
  }
  if (told < speakers.length) lines.push(`... and ${speakers.length - told} more tasks`);
  return lines.join('\n');
}

/** Nobody has looked at what the tasks came to: the requester is told. */
function unjudgedLines(run: Run): string[] {
  const { noMoreRounds } = run;
  return !hasPlan(run) || noMoreRounds === null
    ? []
    : [`The planner was not asked whether that was all: ${excerpt(noMoreRounds)}`];
}

const MORE = '\n... and 10000 more tasks';
/** With less room than this nothing is said that would be worth it. */
const SHARE_CHARS_MIN = 60;
const UNDONE_LINES_MAX = 30;

function undoneLines(run: Run): string[] {
  const lines: string[] = [];
  const recovered = recoveriesOf(run);
  let more = 0;
  for (const task of run.tasks) {
    if (task.status === 'COMPLETED') continue;
    if (lines.length < UNDONE_LINES_MAX) lines.push(`${lineOf(task)}${recoveryText(recovered.get(task.star.id))}`);
    else more++;
  }
  return more > 0 ? [...lines, `... and ${more} more that did not complete`] : lines;
}

/** Completed tasks none of whose successors completed: what they say, nobody has passed on. */
function lastOf({ graph, tasks }: Run): TaskState[] {
  return [...tasks].filter(({ status }, index) => {
    if (status !== 'COMPLETED') return false;
    return graph.linesFrom.at(index).every((line) => {
      const target = graph.taskIndex.get(graph.lines.at(line).to);
      return target === undefined || tasks.at(target).status !== 'COMPLETED';
    });
  });
}

/** Several lines begin below the name of their task. */
function saidBy({ star, result }: TaskState, charsMax: number): string {
  const name = excerpt(star.name);
  const text = (result === null ? '' : resultText(result)).trim();
  const room = charsMax - name.length - ': '.length;
  const shown =
    text.length <= room ? text : `${text.slice(0, Math.max(0, room - 1)).replace(/[\uD800-\uDBFF]$/u, '')}…`;
  return shown.includes('\n') ? `${name}:\n${shown}` : `${name}: ${shown}`;
}

function recoveryText(by: TaskId | undefined): string {
  return by === undefined ? '' : ` (recovered: "${by}" did it instead)`;
}

function lineOf(task: TaskState): string {
  const { star, status, reason } = task;
  const name = excerpt(star.name);
  if (hasNotDelivered(task)) return `${name}: ${status}: ${excerpt(whyUndone(task))}`;
  return `${name}: ${status}${reason === null ? '' : `: ${excerpt(reason)}`}`;
}

/** What a result says: the output of a command, the text of an agent, JSON of anything else. */
function resultText({ value }: TaskResult): string {
  if (typeof value === 'string') return value;
  const output = isOutput(value) ? [value.stdout, value.stderr].find((text) => text.trim() !== '') : undefined;
  return output ?? JSON.stringify(value);
}

function isOutput(value: Json): value is { stdout: string; stderr: string } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return typeof value['stdout'] === 'string' && typeof value['stderr'] === 'string';
}

/** On one line, cut at the end. */
function excerpt(text: string): string {
  // Nobody needs more to see what it begins with, and a result may be long.
  const line = text
    .slice(0, 4 * EXCERPT_CHARS_MAX)
    .replaceAll(/\s+/gu, ' ')
    .trim();
  if (line.length <= EXCERPT_CHARS_MAX) return line;
  return `${line.slice(0, EXCERPT_CHARS_MAX - 1).replace(/[\uD800-\uDBFF]$/u, '')}…`;
}
