import { LIMITS } from '#proto';
import type { Run } from '../state/index.js';
import { dueWaits } from './device-wait.js';
import type { Started } from './ready.js';

/**
 * Nothing waits for ever: the earliest of timeouts, graces, retries, deadlines, the end of an edit round and a look at the
 * fleet; at most 1 h ahead.
 */
export function wakeAt(run: Run, { starvedOf, until }: Pick<Started, 'starvedOf' | 'until'>, now: number): number {
  let earliest: string | undefined;
  const at = (instant: string | null | undefined) => {
    if (instant && (earliest === undefined || instant < earliest)) earliest = instant;
  };
  for (const index of run.running) {
    const { stopping, timeoutAt } = run.tasks.at(index);
    at(stopping?.graceUntil ?? timeoutAt);
  }
  for (const index of run.ready) {
    const { notBefore } = run.tasks.at(index);
    if (notBefore !== null && Date.parse(notBefore) > now) at(notBefore);
  }
  for (const index of run.timed) {
    const { deadlineAt, stopping, fanOut } = run.tasks.at(index);
    const isOver = fanOut !== null && deadlineAt !== null && Date.parse(deadlineAt) <= now;
    if (stopping === null && !isOver) at(deadlineAt);
  }
  for (const due of dueWaits(run)) if (Date.parse(due) > now) at(due);
  for (const { ask } of run.approvals.open.values()) at(ask.expiresAt);
  at(run.editing?.deadlineAt);
  if (run.ending === null) at(run.deadlineAt);
  const look = now + (starvedOf.size > 0 ? LIMITS.waitingPollMs : LIMITS.wakeUpMsMax);
  return Math.min(until, look, earliest === undefined ? Infinity : Date.parse(earliest));
}
