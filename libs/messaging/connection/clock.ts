/** Milliseconds since epoch. */
export interface Clock {
  now(): number;
}

/** For what is only written down, never compared: the caller's clock is better where there is one. */
export const systemTime: Clock = { now: () => Date.now() };
