import { inputTask, LIMITS, type RunEvent, stdinSources } from '#proto';
import {
  callsLeft,
  type Entry,
  isDoomed,
  isLocked,
  isOver,
  isReady,
  isUndecided,
  linesInto,
  satisfied,
} from './ledger.js';
import type { Data, Draft, Occasion, Report } from './occasion.js';

/** A task starts when its lines allow it, nothing holds it, nobody runs it, and on a device that is there and has room. */
export function start(draft: Draft, data: Data<'TASK_STARTED'>, occasion: Occasion, report: Report): void {
  const { taskId, attempt, deviceId, sessionId, timeoutAt, inputs } = data;
  const entry = draft.tasks.get(taskId);
  if (entry === undefined) return report('STRUCTURE', `${taskId} was started and is not there`);
  const { status, attempt: last, notBefore, lostSession } = entry;
  if (status !== 'PENDING') report('I1_SINGLE_ATTEMPT', `${taskId} was started while it is ${status}`);
  if (attempt !== last + 1) report('I1_SINGLE_ATTEMPT', `attempt ${attempt} of ${taskId} follows attempt ${last}`);
  if (draft.phase !== 'RUNNING' || draft.ending !== null) {
    report('I5_TRANSITIONS', `${taskId} was started in a run that does not go on`);
  }
  if (isLocked(draft, taskId, occasion.lockPolicy)) report('LOCK', `${taskId} was started while the lock holds it`);
  if (!isReady(draft, taskId)) report('READINESS', `${taskId} was started before its lines are satisfied`);
  if (occasion.now < notBefore) report('READINESS', `${taskId} was started before its time`);
  const running = [...draft.tasks.values()].filter((other) => other.status === 'RUNNING');
  const load = running.filter((other) => other.deviceId === deviceId).length;
  const device = occasion.fleet.devices.get(deviceId);
  if (device?.status !== 'connected' || device.session?.sessionId !== sessionId || load >= device.tasksMax) {
    report('I1_SINGLE_ATTEMPT', `${taskId} was given to ${deviceId}, which is away or has no slot`);
  }
  if (running.length >= occasion.concurrency)
    report('I1_SINGLE_ATTEMPT', `${taskId} was started beyond the run's limit`);
  if (sessionId === lostSession) report('I1_SINGLE_ATTEMPT', `${taskId} was given to the session that it lost`);
  const [given, wanted] = [JSON.stringify(inputs), JSON.stringify(outputsFor(draft, entry))];
  if (given !== wanted) report('READINESS', `${taskId} was started with ${given} where ${wanted} is there`);
  if (draft.mustWait) report('I6_APPROVAL', `${taskId} was started and nobody has accepted the plan`);
  if ((data.judge === true) !== entry.isJudged)
    report('TRUST', `${taskId} was started as if it were ${data.judge === true ? 'not ' : ''}to be believed`);
  const isOfAgent = entry.star.command === undefined;
  const share = data.budget?.llmCalls ?? 0;
  if (isOfAgent !== (data.agent !== undefined)) report('STRUCTURE', `${taskId} was started as what it is not`);
  if (isOfAgent && occasion.callsMax < Infinity && !(share > 0 && share <= callsLeft(draft, occasion.callsMax))) {
    report('I11_BUDGET', `${taskId} was given ${share} calls, and ${callsLeft(draft, occasion.callsMax)} are left`);
  }
  const started = { status: 'RUNNING', attempt, deviceId, sessionId, timeoutAt: Date.parse(timeoutAt), share } as const;
  draft.tasks.set(taskId, { ...entry, ...started, stopping: null, lostSession: null, ranIn: null });
}

/** What a task takes of its predecessors: the outputs of those that ran and of whose end something is known. */
function outputsFor(draft: Draft, { star }: Entry): Data<'TASK_STARTED'>['inputs'] {
  const { tasks } = draft;
  const before = linesInto(draft, star.id).map(({ from }) => from);
  return (star.command === undefined ? before : stdinSources(star.command).map(inputTask)).flatMap((taskId) => {
    const { status, attempt = 0, isKnown, ranIn } = tasks.get(taskId) ?? {};
    if (attempt === 0 || isKnown !== true || (status !== 'COMPLETED' && status !== 'FAILED')) return [];
    return [{ taskId, attempt, ...(typeof ranIn === 'string' ? { runId: ranIn } : {}) }];
  });
}

export type EndWord = Extract<RunEvent, { type: 'TASK_COMPLETED' | 'TASK_FAILED' | 'TASK_CANCELLED' }>;

/** A task ends by the word of the attempt that runs, by the grace of a stop, or without an attempt. */
export function end(draft: Draft, event: EndWord, occasion: Occasion, report: Report): void {
  const { taskId, attempt } = event.data;
  const entry = draft.tasks.get(taskId);
  if (entry === undefined) return report('STRUCTURE', `${taskId} has ended and is not there`);
  if (isOver(entry.status)) report('I5_TRANSITIONS', `${event.type} of ${taskId}, which is ${entry.status}`);
  if (attempt !== entry.attempt) {
    report('FENCING', `${event.type} of attempt ${attempt} of ${taskId}, whose last one is ${entry.attempt}`);
  }
  if (entry.status === 'RUNNING') checkEndOfAttempt(event, entry, occasion, report);
  else checkEndWithoutAttempt(draft, event, occasion, report);
  if (owesRetry(draft, event, entry, occasion)) draft.owed.add(taskId);
  const outcome = event.type === 'TASK_FAILED' ? event.data.error.outcome : null;
  draft.calls += event.data.used?.llmCalls ?? 0;
  if (event.type === 'TASK_CANCELLED' && event.data.reason === 'budget' && draft.ending === null)
    checkBroke(draft, occasion, report);
  const { deviceId, sessionId, stopping, failedOn } = entry;
  draft.tasks.set(taskId, {
    ...entry,
    status: ENDED[event.type],
    stopping: stopping?.reason === 'fork' ? stopping : null,
    lostSession: outcome === 'device_lost' ? sessionId : null,
    failedOn: outcome === null || deviceId === null ? failedOn : [...failedOn, deviceId],
    isKnown: outcome !== 'unknown',
  });
  if (event.type === 'TASK_CANCELLED') {
    if (event.data.reason !== 'retry') draft.ending ??= event.data.reason;
    return;
  }
  const { editPolicy } = occasion;
  const isOpen = [...draft.lines.values()].some(
    (line) =>
      line.from === taskId &&
      satisfied(line, draft.tasks) === 'undecided' &&
      draft.tasks.get(line.to)?.status === 'PENDING',
  );
  const isWorthALook = entry.star.review === true || editPolicy === 'every-result' || isOpen;
  const isAsked = event.type === 'TASK_FAILED' || isWorthALook;
  if (isAsked && editPolicy !== 'never' && draft.ending === null)
    draft.queued = [...draft.queued, `${taskId}.${attempt}`];
}

/** The budget ends a run when a task has to start, nothing is left for it, and nobody runs who could give some back. */
function checkBroke(draft: Draft, { callsMax, lockPolicy }: Occasion, report: Report): void {
  const entries = [...draft.tasks.values()];
  if ((draft.round?.share ?? 0) > 0) report('I11_BUDGET', 'given up while the planner thinks');
  if (entries.some(({ status }) => status === 'RUNNING')) report('I11_BUDGET', 'given up while somebody runs');
  if (callsLeft(draft, callsMax) > 0) report('I11_BUDGET', 'given up while something of the budget is left');
  const isWaiting = entries.some(
    ({ status, star: { id, command } }) =>
      status === 'PENDING' && command === undefined && isReady(draft, id) && !isLocked(draft, id, lockPolicy),
  );
  if (!isWaiting) report('I11_BUDGET', 'given up, and no task of an agent has to start');
}

const ENDED = { TASK_COMPLETED: 'COMPLETED', TASK_FAILED: 'FAILED', TASK_CANCELLED: 'CANCELLED' } as const;
const OF_ITS_TIME: readonly string[] = ['timeout', 'task_deadline'];

function checkEndOfAttempt(event: EndWord, { attempt, stopping }: Entry, occasion: Occasion, report: Report): void {
  const { taskId } = event.data;
  const word = event.type === 'TASK_COMPLETED' ? 'completed' : 'failed';
  const reported = occasion.inputs.flatMap((input) =>
    input.kind === 'attempt-ended' && input.taskId === taskId && input.attempt === attempt ? [input.finished] : [],
  );
  const [finished] = reported.filter(({ status }) => status === word);
  const isUp = stopping !== null && occasion.now >= stopping.graceUntil && word === 'failed';
  if (finished === undefined && !isUp) {
    report('FENCING', `${event.type} of ${taskId}: nothing is known of the end of attempt ${attempt}, which runs`);
  }
  if (word === 'completed') return;
  const isGivenUp = stopping !== null && stopping.reason !== 'fork' && !OF_ITS_TIME.includes(stopping.reason);
  if (isGivenUp !== (event.type === 'TASK_CANCELLED')) {
    report('OUTCOME', `${event.type} of ${taskId}, which was ${stopping === null ? 'not stopped' : stopping.reason}`);
  }
  if (event.type !== 'TASK_FAILED') return;
  const told = finished?.status === 'failed' ? finished.error.outcome : 'unknown';
  const outcome = told === 'cancelled' && stopping !== null ? 'timed_out' : told;
  if (event.data.error.outcome !== outcome)
    report('OUTCOME', `${taskId} is ${event.data.error.outcome} and was ${outcome}`);
}

function checkEndWithoutAttempt(draft: Draft, event: EndWord, { now, lockPolicy }: Occasion, report: Report): void {
  const { taskId } = event.data;
  const { deadlineAt = Infinity } = draft.tasks.get(taskId) ?? {};
  if (event.type === 'TASK_FAILED' && event.data.error.code === 'CONDITION_UNDECIDABLE') {
    if (!isUndecided(draft, taskId)) report('READINESS', `${taskId} failed for a line of which one can say what it is`);
    if (isLocked(draft, taskId, lockPolicy)) report('LOCK', `${taskId} failed while the lock holds it`);
    return;
  }
  if (event.type === 'TASK_COMPLETED') report('I5_TRANSITIONS', `${taskId} completed without a start`);
  if (event.type === 'TASK_FAILED' && now < deadlineAt) {
    report('I5_TRANSITIONS', `${taskId} failed without a start, before its deadline`);
  }
}

/** The retry policy: another try is left, there is time for it, and it harms nobody. */
function owesRetry(draft: Draft, event: EndWord, entry: Entry, { now }: Occasion): boolean {
  if (event.type !== 'TASK_FAILED' || entry.status !== 'RUNNING' || entry.stopping?.reason === 'fork') return false;
  const { star, attempt, deadlineAt } = entry;
  const { outcome } = event.data.error;
  const isSafe = outcome === 'failed' || outcome === 'timed_out' || star.idempotent === true;
  const hasTime = draft.ending === null && now < draft.deadlineAt && now < deadlineAt;
  return isSafe && hasTime && attempt < (star.retry?.attempts ?? 1);
}

export type TaskWord = Extract<RunEvent, { type: 'TASK_STOP_REQUESTED' | 'TASK_REOPENED' | 'TASK_SKIPPED' }>;

export function recordTask(draft: Draft, event: TaskWord, occasion: Occasion, report: Report): void {
  const { taskId } = event.data;
  const entry = draft.tasks.get(taskId);
  if (entry === undefined) return report('STRUCTURE', `${event.type} of ${taskId}, which is not there`);
  switch (event.type) {
    case 'TASK_STOP_REQUESTED':
      return stop(draft, event.data, entry, { ...occasion, report });
    case 'TASK_REOPENED':
      return reopen(draft, event.data, entry, { ...occasion, report });
    case 'TASK_SKIPPED': {
      const { by } = event.data;
      if (entry.status !== 'PENDING') report('I5_TRANSITIONS', `${taskId} was skipped while it is ${entry.status}`);
      if (isLocked(draft, taskId, occasion.lockPolicy)) report('LOCK', `${taskId} was skipped while the lock holds it`);
      if (!isDoomed(draft, taskId)) report('READINESS', `${taskId} was skipped and no line of it is unsatisfied`);
      const wanted = isDoomedByFailure(draft, taskId) ? 'failure' : 'condition';
      if (by !== wanted) report('OUTCOME', `${taskId} was skipped by ${by} where it was a ${wanted}`);
      draft.tasks.set(taskId, { ...entry, status: 'SKIPPED', skippedBy: by });
    }
  }
}

/** A predecessor failed, or was skipped because of one that did. */
function isDoomedByFailure(draft: Draft, taskId: string): boolean {
  return linesInto(draft, taskId).some((line) => {
    if (satisfied(line, draft.tasks) !== false) return false;
    if (line.type === 'failure-only') return false;
    const source = draft.tasks.get(line.from);
    return source?.status === 'SKIPPED' ? source.skippedBy === 'failure' : line.type !== 'conditional';
  });
}

type Told = Occasion & { readonly report: Report };

function stop(draft: Draft, data: Data<'TASK_STOP_REQUESTED'>, entry: Entry, { now, report }: Told): void {
  const { taskId, reason, attempt, graceUntil } = data;
  const { status, stopping, timeoutAt, deadlineAt } = entry;
  if (status !== 'RUNNING' || entry.attempt !== attempt) report('FENCING', `a stop of ${taskId}, which does not run`);
  const due =
    { timeout: timeoutAt, task_deadline: deadlineAt, run_deadline: draft.deadlineAt }[reason as 'timeout'] ?? now;
  if (now < due) report('I5_TRANSITIONS', `${taskId} was stopped for its time, which is not over`);
  const grace = Date.parse(graceUntil);
  if (grace !== (stopping?.graceUntil ?? now + LIMITS.stopGraceMs))
    report('I5_TRANSITIONS', `${taskId} has another grace`);
  draft.tasks.set(taskId, { ...entry, stopping: { reason, graceUntil: grace } });
  if (reason !== 'retry' && !OF_ITS_TIME.includes(reason)) draft.ending ??= reason;
}

function reopen(draft: Draft, data: Data<'TASK_REOPENED'>, entry: Entry, { now, report }: Told): void {
  const { taskId, reason } = data;
  const { status, stopping, star, attempt } = entry;
  if (!isOver(status) || status === 'COMPLETED')
    report('I5_TRANSITIONS', `${taskId} was reopened while it is ${status}`);
  if (stopping?.reason === 'fork') report('FENCING', `${taskId} is tried again after a fork, and may still run`);
  const notBefore = Date.parse(data.notBefore);
  if (reason === 'retry_policy') {
    if (!draft.owed.delete(taskId)) report('RETRIES', `${taskId} is tried again, and must not be`);
    const longest = (star.retry?.backoffMs ?? 0) * 2 ** (attempt - 1);
    if (notBefore < now + longest / 2 || notBefore > now + longest)
      report('RETRIES', `${taskId} waits ${notBefore - now} ms`);
  }
  const failedOn = reason === 'operator' ? [] : entry.failedOn;
  draft.tasks.set(taskId, { ...entry, status: 'PENDING', stopping: null, notBefore, failedOn, skippedBy: null });
  draft.queued = draft.queued.filter((trigger) => !trigger.startsWith(`${taskId}.`));
}
