/** Port: the time, in milliseconds since the epoch. Everything that asks for the time asks this. */
export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };
