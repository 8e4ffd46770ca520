import type { TaskId } from '#proto';
import { findCycle } from './graph.js';
import { isTerminal, isTerminalTask, type Run } from './run.js';

export interface Violation {
  readonly invariant: 'I1_SINGLE_ASSIGNMENT' | 'I2_ACYCLIC' | 'I5_TRANSITIONS' | 'INDEX';
  readonly tasks: readonly TaskId[];
  readonly message: string;
}

/** The full check over a state: after a load and in every test. Empty when the run is sound. */
export function checkInvariants(run: Run): Violation[] {
  return [...singleAssignment(run), ...acyclic(run), ...terminalRun(run), ...indexes(run)];
}

/** I1: a task that runs has exactly one device and one attempt; one that does not run has no open stop. */
function* singleAssignment(run: Run): Generator<Violation> {
  for (const { star, status, deviceId, sessionId, attempt, stopping } of run.tasks) {
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

function* acyclic(run: Run): Generator<Violation> {
  const cycle = run.graph === null ? undefined : findCycle(run.graph);
  if (cycle !== undefined) yield { invariant: 'I2_ACYCLIC', tasks: cycle, message: 'the lines form a cycle' };
}

function* terminalRun(run: Run): Generator<Violation> {
  if (!isTerminal(run)) return;
  const open = [...run.tasks].filter(({ status }) => !isTerminalTask(status)).map(({ star }) => star.id);
  if (open.length > 0)
    yield { invariant: 'I5_TRANSITIONS', tasks: open, message: `the run is ${run.phase} and they are not terminal` };
}

/** The derived sets and counts say what a scan of the tasks says. */
function* indexes(run: Run): Generator<Violation> {
  for (const [index, { star, status, linesOpen, linesUnsatisfied }] of [...run.tasks].entries()) {
    const into = run.graph?.linesInto[index] ?? [];
    const open = into.filter((line) => run.lines.at(line).satisfied === null).length;
    const unsatisfied = into.filter((line) => run.lines.at(line).satisfied === false).length;
    const ready = status === 'PENDING' && open === 0 && unsatisfied === 0;
    const sound =
      open === linesOpen &&
      unsatisfied === linesUnsatisfied &&
      run.ready.has(index) === ready &&
      run.running.has(index) === (status === 'RUNNING') &&
      run.doomed.has(index) === (status === 'PENDING' && unsatisfied > 0);
    if (!sound) yield { invariant: 'INDEX', tasks: [star.id], message: 'the derived sets disagree with the tasks' };
  }
  const counted = [...run.tasks].reduce((counts, { status }) => ({ ...counts, [status]: counts[status] + 1 }), {
    PENDING: 0,
    RUNNING: 0,
    COMPLETED: 0,
    FAILED: 0,
    SKIPPED: 0,
    CANCELLED: 0,
  });
  if (JSON.stringify(counted) !== JSON.stringify(run.counts)) {
    yield {
      invariant: 'INDEX',
      tasks: [],
      message: `counts ${JSON.stringify(run.counts)} are not ${JSON.stringify(counted)}`,
    };
  }
}
