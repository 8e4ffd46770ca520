/** When a lost connection is tried again. There is no last try: a device that was off for a week has to come back. */
export interface BackoffPolicy {
  readonly msMin: number;
  readonly msMax: number;
  /** A connection shorter than this was no success: what accepts and drops at once would be hammered otherwise. */
  readonly uptimeMsMin: number;
}

export const RECONNECT: BackoffPolicy = { msMin: 500, msMax: 30_000, uptimeMsMin: 10_000 };

const DOUBLINGS_MAX = 30;

/** Wait before the next try after `failures` in a row (at least 1): doubled each time, between half and all of it by `random` in [0, 1). */
export function delayMs({ msMin, msMax }: BackoffPolicy, failures: number, random: number): number {
  const whole = Math.min(msMax, msMin * 2 ** Math.min(Math.max(failures, 1) - 1, DOUBLINGS_MAX));
  return Math.round(whole * (0.5 + random / 2));
}

/** Failures in a row after a connection ended that was up for `uptimeMs` (0: never came up). */
export function failuresAfter({ uptimeMsMin }: BackoffPolicy, failures: number, uptimeMs: number): number {
  return uptimeMs >= uptimeMsMin ? 1 : failures + 1;
}
