import { percentileOf } from '../statistics.js';
import type { Kept } from './console-page.adapter.js';

/** An event that was given to the log, by the clock of this process. */
export interface GivenEvent {
  readonly event: number;
  readonly at: number;
  /** Its place in the log, and when the log had said that it has it. */
  readonly place: number;
  readonly storedAt: number;
}

/** What an event passes on its way, in order; each time is that from the one before it. */
export const STAGES = ['stored', 'sent to another client', 'come to the page', 'in the page', 'painted'] as const;

/** Of one event: how long all of it took, and each stage. */
export interface EventTimes {
  readonly all: number;
  readonly stages: readonly number[];
}

/** From when each was given until it, or one behind it, was shown. `others`: when another client had a commit, by its place. */
export function eventTimes(
  given: readonly GivenEvent[],
  kept: Kept,
  others: ReadonlyMap<number, number>,
): EventTimes[] {
  let shown = 0;
  return given.map(({ event, at, place, storedAt }) => {
    while ((kept.shown[shown]?.event ?? Infinity) < event) shown += 1;
    const seen = kept.shown[shown];
    if (seen === undefined) throw new Error(`nobody has seen when event ${event} was shown`);
    // Who is told before the log has answered has it at once; a page may show it before we know that it came.
    const moments = [
      storedAt,
      others.get(place) ?? storedAt,
      kept.heard.get(place) ?? storedAt,
      seen.changedAt,
      seen.at,
    ];
    let before = at;
    const stages = moments.map((moment) => {
      const took = Math.max(0, moment - before);
      before = Math.max(before, moment);
      return took;
    });
    return { all: seen.at - at, stages };
  });
}

/** So much of all events is the slow end. */
const SLOW = 0.99;

/** Where the time of an ordinary event goes, and that of the slowest hundredth: what each stage takes, in the mean. */
export function stageMeans(times: readonly EventTimes[]): { readonly usual: number[]; readonly slow: number[] } {
  const limit = percentileOf(
    times.map(({ all }) => all),
    SLOW,
  );
  const means = (some: readonly EventTimes[]): number[] =>
    STAGES.map((_, stage) => some.reduce((sum, { stages }) => sum + (stages[stage] ?? 0), 0) / some.length);
  return { usual: means(times), slow: means(times.filter(({ all }) => all >= limit)) };
}
