import { type FanOutView, instantOf, type Instant } from '#proto';
import { type FanOut, findTask, isTerminalTask, type Run, type TaskState } from '../state/index.js';

/** Where a task on several devices stands. */
export interface Progress {
  readonly fanOut: FanOut;
  /** Those whose wave has begun, in the order of their devices. */
  readonly begun: readonly TaskState[];
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly running: number;
  readonly waiting: number;
  readonly notStarted: number;
  /** All that have begun have ended. */
  readonly isQuiet: boolean;
  /** When the next wave may begin, while there is one, nothing stops it, and the last one has ended. */
  readonly nextWaveAt: Instant | null;
  /** Why no other device begins, and with which code the task fails; null while one may. */
  readonly stopped: { readonly code: 'TOO_MANY_FAILURES' | 'DEADLINE'; readonly why: string } | null;
}

/** Null before its devices are chosen, and of a task for one device. `now`: milliseconds since the epoch. */
export function progressOf(run: Pick<Run, 'graph' | 'tasks'>, task: TaskState, now: number): Progress | null {
  const { fanOut } = task;
  if (fanOut === null) return null;
  const begun = fanOut.parts.slice(0, fanOut.begun).flatMap(({ taskId }) => findTask(run, taskId) ?? []);
  const count = (status: TaskState['status']): number => begun.filter((part) => part.status === status).length;
  const counts = {
    completed: count('COMPLETED'),
    failed: count('FAILED'),
    cancelled: count('CANCELLED') + count('SKIPPED'),
    running: count('RUNNING'),
    waiting: count('PENDING'),
    notStarted: fanOut.parts.length - fanOut.begun,
  };
  const isQuiet = counts.running + counts.waiting === 0;
  const stopped = stopOf(task, fanOut, counts, now);
  const isPausing = isQuiet && stopped === null && counts.notStarted > 0;
  return { fanOut, begun, ...counts, isQuiet, stopped, nextWaveAt: isPausing ? afterPause(task, fanOut, begun) : null };
}

function stopOf(
  { deadlineAt }: TaskState,
  { maxFailures, parts }: FanOut,
  { failed, cancelled }: Pick<Progress, 'failed' | 'cancelled'>,
  now: number,
): Progress['stopped'] {
  if (failed > maxFailures) {
    return { code: 'TOO_MANY_FAILURES', why: `${failed} of ${parts.length} devices failed, and ${maxFailures} may` };
  }
  // It was stopped, and one of those that failed was tried again since: what was given up is not made up for by that.
  if (cancelled > 0) return { code: 'TOO_MANY_FAILURES', why: `${cancelled} of ${parts.length} devices were given up` };
  if (deadlineAt === null || now < Date.parse(deadlineAt)) return null;
  return { code: 'DEADLINE', why: 'it did not end before its deadline' };
}

/** Of a task on several devices some have begun and not completed: it may be tried again on those. */
export function hasUndone(run: Run, task: TaskState): boolean {
  const { failed = 0, cancelled = 0 } = progressOf(run, task, 0) ?? {};
  return failed + cancelled > 0;
}

/** The first wave has nothing to wait for. */
function afterPause({ star, startedAt }: TaskState, { wave }: FanOut, begun: readonly TaskState[]): Instant | null {
  const ends = begun.flatMap(({ part, endedAt }) => (part?.wave === wave && endedAt !== null ? [endedAt] : []));
  // RFC 3339 in UTC with milliseconds compares as text.
  const last = ends.reduce<string | null>((latest, at) => (latest === null || at > latest ? at : latest), startedAt);
  const pauseMs = wave === 0 ? 0 : (star.forEach?.pauseMs ?? 0);
  return last === null ? null : instantOf(Date.parse(last) + pauseMs);
}

/** When something about the fan-outs of a run is due that no end of an attempt brings: a wave after a pause, a deadline in it. */
export function* dueWaves(run: Run, now: number): Generator<Instant> {
  if (run.phase !== 'RUNNING' || run.ending !== null) return;
  for (const index of run.fanOuts) {
    const nextWaveAt = progressOf(run, run.tasks.at(index), now)?.nextWaveAt ?? null;
    if (nextWaveAt !== null) yield nextWaveAt;
  }
}

/** As people and programs are shown it; undefined of what has not begun, and of a task for one device. */
export function fanOutView(run: Run, task: TaskState, now: number): FanOutView | undefined {
  const progress = progressOf(run, task, now);
  if (progress === null) return undefined;
  const { fanOut, completed, failed, cancelled, running, waiting, notStarted, stopped } = progress;
  const isOver = isTerminalTask(task.status);
  return {
    devices: fanOut.parts.length,
    wave: fanOut.wave,
    waves: fanOut.wave + Math.ceil(notStarted / fanOut.waveSize),
    running,
    waiting,
    completed,
    failed,
    cancelled,
    notStarted,
    maxFailures: fanOut.maxFailures,
    nextWaveAt: isOver ? null : progress.nextWaveAt,
    stopped: stopped?.why ?? null,
  };
}

/** `wave 3 of 10, 25 of 100 devices done, 1 failed (2 may), 4 run`: one line of all of it. */
export function fanOutText(view: FanOutView): string {
  const { wave, waves, devices, completed, failed, cancelled, running, waiting, maxFailures } = view;
  const counts = [
    `${completed} of ${devices} devices done`,
    ...(failed > 0 ? [`${failed} failed (${maxFailures} may)`] : []),
    ...(cancelled > 0 ? [`${cancelled} given up`] : []),
    ...(running > 0 ? [`${running} running`] : []),
    ...(waiting > 0 ? [`${waiting} waiting`] : []),
  ];
  const next = view.nextWaveAt === null ? '' : `, the next wave at ${view.nextWaveAt}`;
  return `wave ${wave} of ${waves}: ${counts.join(', ')}${next}${view.stopped === null ? '' : '; no other one begins'}`;
}
