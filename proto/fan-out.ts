import { z } from 'zod';
import { DeviceId, Instant, TaskId } from './ids.js';
import { LIMITS } from './limits.js';

const percent = (of: RegExp, least: number) =>
  z.string().regex(of, `a part of the devices is ${least}% to 100%, without a fraction`);

/** Devices at a time: so many, or a part of those that were chosen, rounded down and at least one. */
export const WaveSize = z.union([z.int().min(1), percent(/^(?:[1-9][0-9]?|100)%$/, 1)], {
  error: 'a wave is a number of devices from 1 on, or a part of them such as "10%"',
});
/** So many devices may fail, or a part of those that were chosen, rounded down. */
export const FailuresMax = z.union([z.int().min(0), percent(/^(?:[0-9]|[1-9][0-9]|100)%$/, 0)], {
  error: 'maxFailures is a number of devices from 0 on, or a part of them such as "10%"',
});

/**
 * The task runs once on each device that satisfies its target when it starts, wave by wave. After the failure that is one too many no
 * other device begins.
 */
export const ForEach = z.strictObject({
  /** All at once when absent. */
  wave: WaveSize.optional(),
  /** From the end of a wave to the begin of the next one. */
  pauseMs: z.int().min(0).max(LIMITS.timeoutMsMax).optional(),
  /** 0 when absent: the first failure stops it. */
  maxFailures: FailuresMax.optional(),
});
export type ForEach = z.infer<typeof ForEach>;

/** What a share of so many devices comes to. */
export function shareOf(share: number | string, devices: number): number {
  if (typeof share === 'number') return share;
  return Math.floor((devices * Number.parseInt(share, 10)) / 100);
}

/** One device of a task that runs on several, and the id of its own task there. */
export const FanOutPart = z.strictObject({ deviceId: DeviceId, taskId: TaskId });
export type FanOutPart = z.infer<typeof FanOutPart>;

const parts = z.array(FanOutPart).min(1).max(LIMITS.tasksMax);

/** On which devices the task runs, in this order: they are fixed from here on, and so is what its shares come to. */
export const FanOutStarted = z.strictObject({
  taskId: TaskId,
  parts,
  waveSize: z.int().min(1),
  maxFailures: z.int().min(0),
  startedAt: Instant,
});

/** The next devices: each of them has a task of its own from here on. */
export const WaveStarted = z.strictObject({
  taskId: TaskId,
  /** 1 for the first. */
  wave: z.int().min(1),
  parts,
  startedAt: Instant,
});

/** A fan-out as a fork takes it over. */
export const ForkedFanOut = z.strictObject({
  parts,
  waveSize: z.int().min(1),
  maxFailures: z.int().min(0),
  wave: z.int().min(0),
  begun: z.int().min(0),
});

/** Where a fan-out stands, for people and programs. */
export const FanOutView = z.strictObject({
  devices: z.int().min(0),
  wave: z.int().min(0),
  waves: z.int().min(0),
  /** Of the devices: those whose wave has begun by what has become of them, and those whose wave has not. */
  running: z.int().min(0),
  waiting: z.int().min(0),
  completed: z.int().min(0),
  failed: z.int().min(0),
  cancelled: z.int().min(0),
  notStarted: z.int().min(0),
  maxFailures: z.int().min(0),
  /** While it pauses between two waves. */
  nextWaveAt: Instant.nullable(),
  /** Why no other wave begins; null while one may. */
  stopped: z.string().nullable(),
});
export type FanOutView = z.infer<typeof FanOutView>;
