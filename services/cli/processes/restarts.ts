/** The first death costs nothing; somebody who keeps dying is given more and more time. */
const DELAYS_MS = [0, 250, 500, 1_000, 2_000, 4_000, 8_000] as const;
const DELAY_MS_MAX = 10_000;
/** Who lived this long starts afresh. */
export const STABLE_MS = 30_000;

/** How long to wait before a start, after so many deaths in a row (the one just now included). */
export function restartDelayMs(deaths: number): number {
  return DELAYS_MS[deaths - 1] ?? DELAY_MS_MAX;
}

/** Deaths in a row, after one more of somebody who lived for `livedMs`. */
export function deathsAfter(deaths: number, livedMs: number): number {
  return livedMs >= STABLE_MS ? 1 : deaths + 1;
}
