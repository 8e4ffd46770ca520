export interface Spread {
  readonly median: number;
  readonly p99: number;
  readonly min: number;
  readonly max: number;
  readonly count: number;
}

/** Of fewer than a hundred values the p99 is the largest one. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const [min, max] = [sorted.at(0), sorted.at(-1)];
  if (min === undefined || max === undefined) throw new RangeError('nothing was measured');
  const { length: count } = sorted;
  const median = ((sorted[Math.floor((count - 1) / 2)] ?? min) + (sorted[Math.floor(count / 2)] ?? max)) / 2;
  return { median, p99: sorted[Math.ceil(0.99 * count) - 1] ?? max, min, max, count };
}

/** The value that so great a share of all is not above. */
export function percentileOf(values: readonly number[], share: number): number {
  const found = values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(share * values.length) - 1)];
  if (found === undefined) throw new RangeError('nothing was measured');
  return found;
}

export function medianOf(values: readonly number[]): number {
  return spreadOf(values).median;
}

/** The time between each value and the one before it. */
export function gapsOf(instants: readonly number[]): number[] {
  return instants.slice(1).map((at, index) => at - (instants[index] ?? at));
}
