/** What many numbers are like, whatever they are of. */
export interface Spread {
  readonly median: number | null;
  readonly p95: number | null;
  readonly standardDeviation: number | null;
  readonly minimum: number | null;
  readonly maximum: number | null;
}

/** Numbers by size. Sums are made in this order: else the last digit of one would tell in which order a database gave its rows. */
export type Sorted = Float64Array;

export function sortedOf(values: readonly number[]): Sorted {
  return Float64Array.from(values).sort();
}

export function totalOf(sorted: Sorted): number {
  return sorted.reduce((sum, value) => sum + value, 0);
}

export function meanOf(sorted: Sorted): number | null {
  return sorted.length === 0 ? null : totalOf(sorted) / sorted.length;
}

/** The median of an even number is the mean of the two in the middle; the 95th percentile is the nearest rank; the deviation is that of a sample. */
export function spreadOf(sorted: Sorted): Spread {
  const at = (rank: number): number | null => sorted[rank] ?? null;
  const [low, high] = [at(Math.floor((sorted.length - 1) / 2)), at(Math.floor(sorted.length / 2))];
  return {
    median: low === null || high === null ? null : (low + high) / 2,
    p95: at(Math.ceil((95 * sorted.length) / 100) - 1),
    standardDeviation: deviationOf(sorted),
    minimum: at(0),
    maximum: at(sorted.length - 1),
  };
}

/** Null of fewer than two: one number deviates from nothing. */
function deviationOf(sorted: Sorted): number | null {
  const mean = meanOf(sorted);
  if (mean === null || sorted.length < 2) return null;
  const squares = sorted.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / (sorted.length - 1));
}
