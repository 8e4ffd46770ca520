import type { Instant } from '#proto';

/** Milliseconds since the epoch as they are written on the wire. */
export const instantOf = (ms: number): Instant => new Date(ms).toISOString();
