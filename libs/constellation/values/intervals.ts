/** Milliseconds since the epoch. */
export interface Interval {
  readonly from: number;
  readonly until: number;
}

/** How long at least one of the intervals lasted, in milliseconds. One that ends before it begins lasts nothing. */
export function covered(intervals: readonly Interval[]): number {
  let total = 0;
  let end = Number.NEGATIVE_INFINITY;
  for (const { from, until } of intervals.toSorted((one, other) => one.from - other.from)) {
    total += Math.max(0, until - Math.max(from, end));
    end = Math.max(end, until);
  }
  return total;
}
