import { findTask, isHeld, progressOf, type Run, type TaskState } from '#libs/constellation';
import type { RecordedRunEvent } from '#proto';

type EventOf<T extends RecordedRunEvent['type']> = Extract<RecordedRunEvent, { type: T }>;

/** Its devices are chosen once, when it may begin; a wave begins when the one before it has ended, its pause is over and nothing stops it. */
export function illegalWave(
  run: Run,
  task: TaskState,
  event: EventOf<'FAN_OUT_STARTED' | 'WAVE_STARTED'>,
): string | undefined {
  const index = run.graph.taskIndex.get(task.star.id) ?? -1;
  if (!run.fanOuts.has(index)) return 'it is not for several devices, or may not begin';
  if (run.phase === 'PAUSED') return 'the run is paused';
  if (run.ending !== null) return 'the run is about to end';
  if (isHeld(run)(index)) return 'it is held by a round';
  return event.type === 'FAN_OUT_STARTED' ? illegalChoice(run, task, event) : illegalNext(run, task, event);
}

function illegalChoice(run: Run, { fanOut }: TaskState, { data }: EventOf<'FAN_OUT_STARTED'>): string | undefined {
  if (fanOut !== null) return 'its devices were chosen before';
  const devices = new Set(data.parts.map(({ deviceId }) => deviceId));
  if (devices.size < data.parts.length) return 'it names a device twice';
  const ids = data.parts.map(({ taskId }) => taskId);
  const taken = ids.find((id, at) => ids.indexOf(id) < at || findTask(run, id) !== undefined || run.usedIds.has(id));
  return taken === undefined ? undefined : `the id ${taken} is taken`;
}

function illegalNext(run: Run, task: TaskState, { data }: EventOf<'WAVE_STARTED'>): string | undefined {
  const progress = progressOf(run, task, Date.parse(data.startedAt));
  if (progress === null) return 'its devices were not chosen';
  const { fanOut, isQuiet, nextWaveAt, stopped } = progress;
  if (data.wave !== fanOut.wave + 1) return `wave ${data.wave} follows wave ${fanOut.wave}`;
  if (!isQuiet) return 'the wave before it has not ended';
  if (stopped !== null) return `no other one may begin: ${stopped.why}`;
  if (nextWaveAt === null || data.startedAt < nextWaveAt) return `it may not begin before ${nextWaveAt ?? 'its turn'}`;
  const due = fanOut.parts.slice(fanOut.begun, fanOut.begun + fanOut.waveSize);
  const isDue = due.length === data.parts.length && due.every(({ taskId }, at) => taskId === data.parts[at]?.taskId);
  return isDue ? undefined : 'its devices are not those whose turn it is';
}

/** One device that has not begun is given up when too many others have failed. */
export function unstopped(run: Run, part: TaskState['part'], at: string): string | undefined {
  const task = part === null ? undefined : findTask(run, part.of);
  if (task === undefined) return 'it is no device of a task on several';
  const stopped = progressOf(run, task, Date.parse(at))?.stopped ?? null;
  return stopped === null ? 'not too many other devices have failed' : undefined;
}

/** What has attempts completes with one; a task on several devices when all of them have ended and no more failed than may. */
export function unfinished(run: Run, task: TaskState, { data }: EventOf<'TASK_COMPLETED'>): string | undefined {
  const progress = progressOf(run, task, Date.parse(data.completedAt));
  if (progress === null) {
    if (data.attempt === 0 || data.attemptHash === null) return 'it names no attempt';
    return task.status === 'RUNNING' ? undefined : `it is ${task.status}`;
  }
  if (task.status !== 'PENDING') return `it is ${task.status}`;
  if (!progress.isQuiet || progress.notStarted > 0) return 'not all of its devices have ended';
  return progress.stopped === null ? undefined : progress.stopped.why;
}
