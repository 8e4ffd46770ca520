import { setTimeout as sleep } from 'node:timers/promises';

/** Longer than a question of one process to another takes, and shorter than anything that is worth to be waited for. */
const MOMENT_MS = 10;

/**
 * Between two looks at what others do. Whoever looks again at once takes the processor from those it waits for, and from every test beside
 * it.
 */
export const moment = (): Promise<void> => sleep(MOMENT_MS);
