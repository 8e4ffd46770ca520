import type { TaskState } from './task.js';

/** Fencing: only the attempt that runs may end its task. Devices retry and streams redeliver; an older attempt has no say. */
export function isCurrentAttempt({ status, attempt }: TaskState, reported: number): boolean {
  return status === 'RUNNING' && attempt === reported;
}
