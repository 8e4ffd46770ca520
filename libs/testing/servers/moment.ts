import { setTimeout as sleep } from 'node:timers/promises';

/** Many times what a question of one process to another takes, so that asking costs little of the wait; and shorter than anything that is worth to be waited for. */
const MOMENT_MS = 25;

/**
 * Between two looks at what others do. Whoever looks again at once takes the processor from those it waits for, and from every test beside
 * it.
 */
export const moment = (): Promise<void> => sleep(MOMENT_MS);
