import {
  instantOf,
  FILE_ENDS,
  INPUT_UNAVAILABLE,
  LIMITS,
  NEEDS_DEVICE,
  type Actor,
  type Instant,
  type Json,
  type Note,
  type RunEvent,
  type StopReason,
  type TaskError,
  type TaskResult,
  type Usage,
} from '#proto';
import {
  allOf,
  endsTheRun,
  isAgentTask,
  judgeLines,
  readsModelText,
  type Run,
  type TaskState,
} from '../state/index.js';
import { boardWrite, withWritten } from '../board/index.js';
import type { RunDraft } from '../fold/index.js';
import { isRepeatable } from '../edits/index.js';
import { type Circumstances, deadlinePassed } from '../schedule/index.js';
import { linesToWaitFor, reopenTask } from './reopen.js';

interface FailedAttempt {
  readonly error: TaskError;
  readonly attemptHash: string | null;
  readonly used?: Usage | undefined;
  readonly notes?: Note[] | undefined;
}

/**
 * Ends the running attempt of a task that did not succeed: cancelled when the run is to end, open again when a person asked
 * for another try, failed otherwise, and reopened in the same commit when the task's retry policy allows another try and
 * repeating it is safe.
 */
export function failAttempt(
  draft: RunDraft,
  index: number,
  { error, attemptHash, used = usedUnheard(draft.run, index, attemptHash), notes }: FailedAttempt,
  circumstances: Circumstances,
): void {
  const { run } = draft;
  const task = run.tasks.at(index);
  const { id: taskId } = task.star;
  const { stopping, attempt } = task;
  const at = instantOf(circumstances.now);
  if (stopping !== null && (endsTheRun(stopping.reason) || stopping.reason === 'retry')) {
    cancelAttempt(draft, index, { ...stopping, output: error.output, attemptHash, used }, circumstances.now);
    if (stopping.reason === 'retry') {
      reopenTask(draft, index, { reason: 'operator', by: stopping.by, notBefore: at });
    }
    return;
  }
  const known = stopping === null ? error : timedOut(error, stopping.reason);
  const more = { ...(used === undefined ? {} : { used }), ...(notes === undefined ? {} : { notes }) };
  const again = anotherTry(run, task, known, circumstances);
  const retried = again !== null;
  const lines = retried ? [] : judgeLines(run, index, { status: 'FAILED', result: known.output ?? null }, draft.judge);
  draft.add({
    type: 'TASK_FAILED',
    data: { taskId, attempt, error: known, lines, failedAt: at, attemptHash, ...more },
  });
  if (again === null) return;
  const notBefore = instantOf(circumstances.now + (again === 'not_sent' ? 0 : backoffMs(run, task)));
  const reopened = { taskId, attempt, reason: again, notBefore };
  draft.add({ type: 'TASK_REOPENED', data: { ...reopened, lines: linesToWaitFor(draft.run, index) } });
}

interface Cancelled {
  readonly reason: StopReason;
  readonly by: Actor | null;
  readonly note?: string | null;
  readonly output?: TaskResult | undefined;
  readonly attemptHash?: string | null;
  readonly used?: Usage | undefined;
}

/** Of an attempt whose end nobody reported: it may have used all that it was given. */
function usedUnheard({ tasks }: Run, index: number, attemptHash: string | null): Usage | undefined {
  return attemptHash === null ? allOf(tasks.at(index)) : undefined;
}

/** A task that is given up; what it had answered until then is kept. */
export function cancelAttempt(
  draft: RunDraft,
  index: number,
  { reason, by, note = null, output, attemptHash, used }: Cancelled,
  now: number,
): void {
  const { run } = draft;
  const { star, attempt } = run.tasks.at(index);
  const answered = output ?? run.tasks.at(index).result;
  // A task that is about to be open again has not ended: its lines are judged when it has.
  const lines =
    reason === 'retry' ? [] : judgeLines(run, index, { status: 'CANCELLED', result: answered }, draft.judge);
  draft.add({
    type: 'TASK_CANCELLED',
    data: {
      taskId: star.id,
      attempt,
      reason,
      ...(by === null ? {} : { by }),
      ...(note === null ? {} : { note }),
      lines,
      cancelledAt: instantOf(now),
      ...(output === undefined ? {} : { output }),
      ...(attemptHash === undefined ? {} : { attemptHash }),
      ...(used === undefined ? {} : { used }),
    },
  });
}

/** What a device reports of an attempt that we stopped for its time is a timeout, unless nobody knows what happened. */
function timedOut(error: TaskError, reason: StopReason): TaskError {
  if (error.outcome !== 'cancelled') return error;
  const message =
    reason === 'task_deadline'
      ? 'did not end before its deadline and was stopped'
      : 'did not end within its timeout and was stopped';
  return { ...error, code: 'TIMEOUT', message, outcome: 'timed_out' };
}

/** Why the task is tried again, if it is. What never reached a device is none of the tries that its policy counts. */
function anotherTry(
  run: Run,
  task: TaskState,
  { code, outcome, sent }: TaskError,
  { fleet, now }: Circumstances,
): 'not_sent' | 'retry_policy' | null {
  const { star, attempt, unsent, deadlineAt, deviceId } = task;
  // What predecessors answered does not change: what could not be delivered whole, or where it has to be, cannot be the next time.
  if (code === INPUT_UNAVAILABLE || code === FILE_ENDS.clash) return null;
  // What belongs on another device does so the next time, too.
  if (code === NEEDS_DEVICE) return null;
  if (run.ending !== null || deadlinePassed(run, now)) return null;
  if (deadlineAt !== null && now >= Date.parse(deadlineAt)) return null;
  const outcomeKnown = outcome === 'failed' || outcome === 'timed_out';
  // A device that is given up is a loss all the same: the policy, or the planner, says what follows from it.
  if (sent === false && outcomeKnown && unsent < LIMITS.unsentAttemptsMax) return 'not_sent';
  if (attempt - unsent >= (star.retry?.attempts ?? 1)) return null;
  return outcomeKnown || sent === false || isRepeatable(star, fleet, deviceId) ? 'retry_policy' : null;
}

/** Doubles with every try that counts and is spread over its upper half, so that tasks that failed together do not come back together. */
function backoffMs(run: Run, { star, attempt, unsent }: TaskState): number {
  const { backoffMs: first = 0, backoffMsMax = Infinity } = star.retry ?? {};
  const longest = Math.min(first * 2 ** (attempt - unsent - 1), backoffMsMax);
  return Math.round(longest * (0.5 + 0.5 * recordedRandomness(`${run.hash}.${star.id}.${attempt}`)));
}

/** FNV-1a of a text with a recorded hash in it, as a fraction of 1: as random as that hash, and the same for everybody. */
function recordedRandomness(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash ^= text.charCodeAt(index);
    hash = Math.imul(hash, 0x01000193);
  }
  return (hash >>> 0) / 2 ** 32;
}

type Writes =
  { readonly ok: true; readonly events: readonly RunEvent[] } | { readonly ok: false; readonly problem: string };

/** What the task writes on the board now that it has completed, all of it or nothing; or why it cannot. */
export function boardWritesOf(run: Run, index: number, result: TaskResult, at: Instant): Writes {
  const { star, judged, attempt } = run.tasks.at(index);
  const events: RunEvent[] = [];
  if (star.board === undefined) return { ok: true, events };
  let { board } = run;
  const judge = judged || isAgentTask(star) || readsModelText(run, star.id);
  for (const { name, field } of star.board) {
    const value = fieldOf(result, field);
    if (value === undefined)
      return { ok: false, problem: `board.${name}: its result has no whole ${field ?? 'value'}` };
    const by = { by: ATTEMPTS, attempt: { taskId: star.id, attempt }, judge, at };
    const written = boardWrite(board, { name, value }, by);
    if (written.kind === 'ignored') continue;
    if (written.kind === 'rejected') return { ok: false, problem: `board.${name}: ${written.reason.message}` };
    board = withWritten(board, written.data);
    events.push({ type: 'BOARD_WRITTEN', data: written.data });
  }
  return { ok: true, events };
}

/** Who says what an attempt has come to. */
const ATTEMPTS: Actor = { kind: 'system', id: 'device-agent' };

/** Undefined of what is not there, or was cut. */
function fieldOf({ value, cut = [] }: TaskResult, field: string | undefined): Json | undefined {
  const path = field?.split('.') ?? [];
  if (cut.some((one) => one === '' || field === undefined || one === field || one.startsWith(`${field}.`)))
    return undefined;
  let found: Json | undefined = value;
  for (const name of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as Record<string, Json>)[name];
  }
  return found;
}
