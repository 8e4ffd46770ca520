import { isDeepStrictEqual } from 'node:util';
import { findTask, isTerminal, type Run, type TaskState } from '#libs/constellation';
import type { RecordedRunEvent, TaskStatus } from '#proto';

/**
 * Whether a recorded event may follow the state it meets: the table of the run's states, checked again by somebody who
 * does not trust the writer. A fold says nothing about that, it takes facts as they are. Undefined when all is well.
 */
export function illegal(run: Run, event: RecordedRunEvent): string | undefined {
  if (event.type === 'RUN_REQUESTED') return run.phase === 'NONE' ? undefined : 'the run is requested a second time';
  if (run.phase === 'NONE') return `${event.type} comes before RUN_REQUESTED`;
  if (isTerminal(run) && event.type !== 'RUN_ANNOTATED') return `${event.type} comes after the end of the run`;
  switch (event.type) {
    case 'CONSTELLATION_MODIFIED':
      return event.data.revision === run.revision + 1
        ? undefined
        : `revision ${event.data.revision} follows revision ${run.revision}`;
    case 'RUN_COMPLETED':
    case 'RUN_FAILED':
      return illegalEnd(run, event.data.counts);
    case 'RUN_PAUSED':
      return undefined;
    default:
      return illegalForTask(run, event);
  }
}

type TaskEvent = Extract<RecordedRunEvent, { data: { taskId: string } }>;

function illegalForTask(run: Run, event: TaskEvent): string | undefined {
  const task = findTask(run, event.data.taskId);
  if (task === undefined) return `${event.type} is about "${event.data.taskId}", which is no task of this run`;
  const problem = problemOf(run, task, event);
  return problem === undefined ? undefined : `${event.type} of ${task.star.id}: ${problem}`;
}

function problemOf(run: Run, task: TaskState, event: TaskEvent): string | undefined {
  switch (event.type) {
    case 'TASK_STARTED': {
      if (event.data.attempt !== task.attempt + 1) return `attempt ${event.data.attempt} follows ${task.attempt}`;
      if (!isDeepStrictEqual(event.data.command, task.star.command)) return 'the command is not that of the task';
      const unsatisfied = linesInto(run, task).filter(({ satisfied }) => satisfied !== true);
      if (unsatisfied.length > 0) return `line ${unsatisfied[0]?.id ?? '?'} is not satisfied`;
      return unless(task, ['PENDING']);
    }
    case 'TASK_COMPLETED':
    case 'TASK_STOP_REQUESTED':
      return unless(task, ['RUNNING']) ?? otherAttempt(task, event.data.attempt);
    case 'TASK_FAILED':
      return unless(task, ['RUNNING', 'PENDING']) ?? otherAttempt(task, event.data.attempt);
    case 'TASK_CANCELLED':
      if (task.status === 'RUNNING' && task.stopping === null) return 'it runs and nobody asked it to stop';
      return unless(task, ['PENDING', 'RUNNING']) ?? otherAttempt(task, event.data.attempt);
    case 'TASK_SKIPPED': {
      const chosen = linesInto(run, task).some(({ satisfied }) => satisfied === false);
      return unless(task, ['PENDING']) ?? (chosen ? undefined : 'none of its lines is unsatisfied');
    }
    case 'TASK_REOPENED':
      return unless(task, ['FAILED', 'SKIPPED', 'CANCELLED']);
    case 'RUN_ANNOTATED':
      return undefined;
  }
}

function unless({ status }: TaskState, allowed: readonly TaskStatus[]): string | undefined {
  return allowed.includes(status) ? undefined : `it is ${status}`;
}

function otherAttempt({ attempt }: TaskState, named: number): string | undefined {
  return named === attempt ? undefined : `it names attempt ${named}, the last one started is ${attempt}`;
}

function linesInto(run: Run, { star }: TaskState): { id: string; satisfied: boolean | null }[] {
  const { graph } = run;
  if (graph === null) return [];
  return graph.lines.flatMap((line, index) =>
    line.to === star.id ? [{ id: line.id, satisfied: run.lines.at(index).satisfied }] : [],
  );
}

interface Counts {
  readonly completed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly cancelled: number;
}

function illegalEnd(run: Run, { completed, failed, skipped, cancelled }: Counts): string | undefined {
  const { PENDING, RUNNING, COMPLETED, FAILED, SKIPPED, CANCELLED } = run.counts;
  if (PENDING + RUNNING > 0) return `the run ends while ${PENDING + RUNNING} tasks have not ended`;
  const same = completed === COMPLETED && failed === FAILED && skipped === SKIPPED && cancelled === CANCELLED;
  return same ? undefined : 'the counts of the end are not those of the tasks';
}
