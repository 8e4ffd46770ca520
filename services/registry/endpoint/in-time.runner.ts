import { setTimeout as sleep } from 'node:timers/promises';

/** The caller waits for five seconds: within this he hears what is missing. */
export const SHOWN_MS_MAX = 3_000;

/** Whether the work is done in time; it goes on when it is not. */
export async function isInTime(limitMs: number, work: Promise<void>): Promise<boolean> {
  const ended = new AbortController();
  const tooLate = sleep(limitMs, false, { signal: ended.signal }).catch(() => false);
  const inTime = await Promise.race([work.then(() => true), tooLate]);
  ended.abort();
  return inTime;
}
