import { NO_USAGE, type RunEvent, type TaskId, type TaskStatus } from '#proto';
import { findCycle } from '../plan/index.js';
import {
  BOUNDS,
  exceeded,
  findTask,
  hasPlan,
  hasWords,
  plus,
  sameUsage,
  isTerminal,
  isTerminalTask,
  NO_COUNTS,
  type Run,
  type TaskState,
} from '../state/index.js';
import { changedBesidesPending } from '../edits/index.js';
import { agentPending } from './draft.js';

export interface InvariantViolation {
  readonly invariant:
    | 'I1_SINGLE_ASSIGNMENT'
    | 'I2_ACYCLIC'
    | 'I3_ONLY_PENDING'
    | 'I5_TRANSITIONS'
    | 'I6_APPROVAL'
    | 'I11_BUDGET'
    | 'I12_FAN_OUT'
    | 'INDEX';
  readonly tasks: readonly TaskId[];
  readonly message: string;
}

/** The full check over a state: after a load and in every test. Empty when the run is sound. */
export function checkInvariants(run: Run): InvariantViolation[] {
  return [
    ...singleAssignment(run),
    ...acyclic(run),
    ...terminalRun(run),
    ...editRound(run),
    ...openApprovals(run),
    ...planApproval(run),
    ...budget(run),
    ...fanOuts(run),
    ...indexes(run),
  ];
}

/** I1: a task that runs has exactly one device and one attempt; one that does not run has no open stop. */
function* singleAssignment(run: Run): Generator<InvariantViolation> {
  for (const { star, status, deviceId, sessionId, attempt, stopping } of found(run)) {
    const assigned = deviceId !== null && sessionId !== null && attempt > 0;
    if (status === 'RUNNING' && !assigned) {
      yield {
        invariant: 'I1_SINGLE_ASSIGNMENT',
        tasks: [star.id],
        message: 'runs without device, session and attempt',
      };
    }
    if (status !== 'RUNNING' && stopping !== null) {
      yield { invariant: 'I1_SINGLE_ASSIGNMENT', tasks: [star.id], message: `is ${status} and still being stopped` };
    }
  }
}

/** The tasks as a fold has left them, whatever their types promise: that is what is checked. */
function found({ tasks }: Run): Iterable<{ readonly [K in keyof TaskState]: TaskState[K] }> {
  return tasks;
}

function* acyclic(run: Run): Generator<InvariantViolation> {
  const cycle = findCycle(run.graph);
  if (cycle !== undefined) yield { invariant: 'I2_ACYCLIC', tasks: cycle, message: 'the lines form a cycle' };
}

function* terminalRun(run: Run): Generator<InvariantViolation> {
  if (!isTerminal(run)) return;
  const open = [...run.tasks].filter(({ status }) => !isTerminalTask(status)).map(({ star }) => star.id);
  if (open.length > 0)
    yield { invariant: 'I5_TRANSITIONS', tasks: open, message: `the run is ${run.phase} and they are not terminal` };
}

/** A round that is open belongs to a run that goes on; nothing that ends may leave the lock behind. */
function* editRound({ editing, ending, phase }: Run): Generator<InvariantViolation> {
  if (editing === null) return;
  if (isTerminal({ phase }) || ending !== null) {
    const state = ending === null ? phase : 'about to end';
    yield {
      invariant: 'I5_TRANSITIONS',
      tasks: [],
      message: `round ${editing.editId} is open and the run is ${state}`,
    };
  }
}

/** I6: what a person is asked is asked by an attempt that runs and waits for the answer. */
function* openApprovals(run: Run): Generator<InvariantViolation> {
  for (const [approvalId, { taskId, attempt }] of run.approvals.open) {
    const task = findTask(run, taskId);
    if (task?.status === 'RUNNING' && task.attempt === attempt && task.asks.includes(approvalId)) continue;
    const message = `approval ${approvalId} is open and its attempt does not run`;
    yield { invariant: 'I6_APPROVAL', tasks: [taskId], message };
  }
}

/** A plan that waits for a person's word is there, and stands still: nobody is asked about it but because of what somebody said. */
function* planApproval(run: Run): Generator<InvariantViolation> {
  const isAsked = run.editing !== null && !hasWords(run.editing.triggers);
  if (run.waitsFor === null || (hasPlan(run) && !isAsked)) return;
  const message = `a plan waits for approval and the run is ${run.phase}${hasPlan(run) ? '' : ' without a plan'}`;
  yield { invariant: 'I6_APPROVAL', tasks: [], message };
}

/** I11: what running attempts and the open round were given is what is accounted for. */
function* budget(run: Run): Generator<InvariantViolation> {
  let granted = plus(NO_USAGE, run.editing?.budget ?? {});
  for (const { star, status, slice } of found(run)) {
    if (status !== 'RUNNING' && slice !== null) {
      yield { invariant: 'I11_BUDGET', tasks: [star.id], message: `is ${status} and keeps its part of the budget` };
    }
    if (slice !== null) granted = plus(granted, slice);
  }
  if (sameUsage(granted, run.granted)) return;
  const message = `${JSON.stringify(run.granted)} is given out, and attempts and the round have ${JSON.stringify(granted)}`;
  yield { invariant: 'I11_BUDGET', tasks: [], message };
}

/** I12: a task on several devices names each of them once, and those that have begun have one task each, and no other one has. */
function* fanOuts(run: Run): Generator<InvariantViolation> {
  const named = new Map<TaskId, { readonly of: TaskId; readonly device: string }>();
  for (const { star, fanOut } of run.tasks) {
    if (fanOut === null) continue;
    const devices = new Set(fanOut.parts.map(({ deviceId }) => deviceId));
    if (devices.size < fanOut.parts.length) {
      yield { invariant: 'I12_FAN_OUT', tasks: [star.id], message: 'names a device twice' };
    }
    for (const { taskId, deviceId } of fanOut.parts.slice(0, fanOut.begun)) {
      named.set(taskId, { of: star.id, device: deviceId });
    }
  }
  for (const { star, part, deviceId } of run.tasks) {
    const known = named.get(star.id);
    named.delete(star.id);
    const isSound = known?.of === part?.of && (known === undefined || (deviceId ?? known.device) === known.device);
    if (!isSound) yield { invariant: 'I12_FAN_OUT', tasks: [star.id], message: 'is not the device that was chosen' };
  }
  if (named.size > 0) {
    yield { invariant: 'I12_FAN_OUT', tasks: [...named.keys()], message: 'have begun and are no tasks of the run' };
  }
}

/** The derived sets and counts say what a scan of the tasks says. */
function* indexes(run: Run): Generator<InvariantViolation> {
  for (const [index, { star, status, linesOpen, linesUnsatisfied, deadlineAt, deviceWait }] of [
    ...run.tasks,
  ].entries()) {
    const into = run.graph.linesInto.at(index);
    const open = into.filter((line) => run.lines.at(line).satisfied === null).length;
    const unsatisfied = into.filter((line) => run.lines.at(line).satisfied === false).length;
    const mayBegin = status === 'PENDING' && open === 0 && unsatisfied === 0;
    const isFanOut = star.forEach !== undefined;
    const sound =
      open === linesOpen &&
      unsatisfied === linesUnsatisfied &&
      run.ready.has(index) === (mayBegin && !isFanOut) &&
      run.fanOuts.has(index) === (mayBegin && isFanOut) &&
      run.running.has(index) === (status === 'RUNNING') &&
      run.doomed.has(index) === (status === 'PENDING' && unsatisfied > 0) &&
      run.stranded.has(index) === (deviceWait !== null && status === 'PENDING') &&
      run.timed.has(index) === (deadlineAt !== null && !isTerminalTask(status));
    if (!sound) yield { invariant: 'INDEX', tasks: [star.id], message: 'the derived sets disagree with the tasks' };
  }
  const counted: Record<TaskStatus, number> = { ...NO_COUNTS };
  for (const { status } of run.tasks) counted[status]++;
  let pending = 0;
  for (const task of run.tasks) pending += agentPending(task);
  if (pending !== run.agentsPending) {
    const message = `${run.agentsPending} tasks of agents are counted as pending, and ${pending} are`;
    yield { invariant: 'INDEX', tasks: [], message };
  }
  if (JSON.stringify(counted) !== JSON.stringify(run.counts)) {
    yield {
      invariant: 'INDEX',
      tasks: [],
      message: `counts ${JSON.stringify(run.counts)} are not ${JSON.stringify(counted)}`,
    };
  }
}

/** I3 over one recorded edit: what was not PENDING is what it was, and so are the lines that lead to it. */
export function checkEdit(before: Run, event: RunEvent, after: Run): InvariantViolation[] {
  if (event.type !== 'CONSTELLATION_MODIFIED' || event.data.edits === undefined) return [];
  const changed = changedBesidesPending(before, after);
  if (changed.length === 0) return [];
  return [{ invariant: 'I3_ONLY_PENDING', tasks: changed, message: 'an edit changed what was not PENDING' }];
}

/** I11 over one event: what was used never becomes less, and neither a start nor a round gives out more than is left. */
export function checkBudget(before: Run, event: RunEvent, after: Run): InvariantViolation[] {
  const shrunk = BOUNDS.filter((bound) => after.used[bound] < before.used[bound]);
  if (shrunk.length > 0) {
    return [{ invariant: 'I11_BUDGET', tasks: [], message: `less of ${shrunk.join(', ')} is used than before` }];
  }
  if (event.type !== 'TASK_STARTED' && event.type !== 'EDIT_OPENED') return [];
  const over = exceeded(after).filter((bound) => after.granted[bound] > before.granted[bound]);
  if (over.length === 0) return [];
  const message = `more of ${over.join(', ')} was given out than the budget has left`;
  return [{ invariant: 'I11_BUDGET', tasks: event.type === 'TASK_STARTED' ? [event.data.taskId] : [], message }];
}
