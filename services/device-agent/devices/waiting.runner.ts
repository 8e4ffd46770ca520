import { setTimeout as sleep } from 'node:timers/promises';

/** Waits, or until the signal is aborted: then the timer is cleared and it returns at once. */
export async function waitUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}
