import type { DistributionName, FigureBin } from '#proto';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Where ranges begin, the same for whatever runs and groups: so two histograms can be laid one beside the other. The last has no end. */
const COUNTS = [0, 1, 2, 3, 5, 9, 17, 33, 65, 129, 257, 513, 1_025, 2_049, 4_097, 8_193];
const RATIOS = [0, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 6, 8, 12, 16, 32, 64, 128];
const TIMES = [
  0,
  ...[0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 20, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 5, 12, 24, 72, 168].map((hours) => hours * HOUR),
];

const EDGES: Readonly<Record<DistributionName, readonly number[]>> = {
  parallelismRatio: RATIOS,
  tasksAtFirst: COUNTS,
  tasksAtLast: COUNTS,
  dependenciesAtLast: COUNTS,
  devices: COUNTS,
  maxWidth: COUNTS,
  changes: COUNTS,
  criticalPathMs: TIMES,
  workMs: TIMES,
  endToEndMs: TIMES,
  orchestrationMs: TIMES,
};

/** From the first range with a value in it to the last; none without values. */
export function binsOf(name: DistributionName, values: readonly number[]): FigureBin[] {
  const edges = EDGES[name];
  const counts = edges.map(() => 0);
  for (const value of values) {
    const at = Math.max(
      0,
      edges.findLastIndex((edge) => edge <= value),
    );
    counts[at] = (counts[at] ?? 0) + 1;
  }
  const first = counts.findIndex((runs) => runs > 0);
  const last = counts.findLastIndex((runs) => runs > 0);
  if (first === -1) return [];
  return counts.map((runs, at) => ({ from: edges[at] ?? 0, to: edges[at + 1] ?? null, runs })).slice(first, last + 1);
}
