import { once } from 'node:events';
import { hearingTime } from '#libs/messaging';

/** The caller waits for five seconds: within this he hears what is missing. */
export const SHOWN_MS_MAX = 3_000;

/** Whether the work is done in time; it goes on when it is not. */
export async function isInTime(limitMs: number, work: Promise<void>): Promise<boolean> {
  const time = hearingTime(limitMs);
  const tooLate = once(time.over, 'abort').then(() => false);
  try {
    return await Promise.race([work.then(() => true), tooLate]);
  } finally {
    time.end();
  }
}
