import {
  DistributionName,
  type FigureRuns,
  type FiguresOfRuns,
  type MeasureFigures,
  type MeasureName,
  type RatioFigures,
  type RatioName,
} from '#proto';
import { binsOf } from './bins.js';
import { MEASURE_NAMES, RATIO_NAMES, RATIOS } from './quantities.js';
import type { MeasuredRun } from './run-figures.js';
import { meanOf, sortedOf, spreadOf, totalOf } from './spread.js';

/** One run that matches: its figures, or why there are none. */
export type TalliedRun = MeasuredRun | 'open' | 'behind' | 'unreadable';

/** The figures of all runs together. Pure: the same runs in whatever order are the same figures. */
export function figuresOfRuns(runs: Iterable<TalliedRun>): FiguresOfRuns {
  const tally = new FiguresTally();
  for (const run of runs) tally.add(run);
  return tally.result();
}

interface Ratio {
  readonly numerators: number[];
  readonly denominators: number[];
}

/** The same for runs that come page by page: it keeps the numbers of a run, not the run. */
export class FiguresTally {
  readonly #runs = { counted: 0, open: 0, behind: 0, unreadable: 0 };
  readonly #values = new Map<MeasureName, number[]>(MEASURE_NAMES.map((name) => [name, []]));
  readonly #ratios = new Map<RatioName, Ratio>(RATIO_NAMES.map((name) => [name, { numerators: [], denominators: [] }]));
  readonly #skewed = new Map<MeasureName | RatioName, number>();

  add(run: TalliedRun): void {
    if (typeof run === 'string') {
      this.#runs[run]++;
      return;
    }
    this.#runs.counted++;
    const skewed = new Set(run.skewed);
    for (const name of MEASURE_NAMES) {
      const value = valueOf(run, name);
      if (skewed.has(name)) this.#skew(name);
      else if (value !== null) this.#values.get(name)?.push(value);
    }
    for (const name of RATIO_NAMES) this.#addRatio(name, run, skewed);
  }

  result(): FiguresOfRuns {
    const { counted, open, behind, unreadable } = this.#runs;
    const runs: FigureRuns = { matching: counted + open + behind + unreadable, ...this.#runs };
    return {
      runs,
      measures: recordOf(MEASURE_NAMES, (name) => this.#measure(name)),
      ratios: recordOf(RATIO_NAMES, (name) => this.#ratio(name)),
      distributions: recordOf(DistributionName.options, (name) => binsOf(name, this.#distributed(name))),
    };
  }

  /** Both numbers and a denominator above 0, or it is no ratio. */
  #addRatio(name: RatioName, run: MeasuredRun, skewed: ReadonlySet<MeasureName>): void {
    const { numerator, denominator } = RATIOS[name];
    if ([numerator, ...denominator].some((part) => skewed.has(part))) return this.#skew(name);
    const above = valueOf(run, numerator);
    const below = denominator.length === 0 ? 1 : sumUnlessNone(denominator.map((part) => valueOf(run, part)));
    if (above === null || below === null || below <= 0) return;
    const { numerators, denominators } = this.#ratioOf(name);
    numerators.push(above);
    denominators.push(below);
  }

  #measure(name: MeasureName): MeasureFigures {
    const values = sortedOf(this.#values.get(name) ?? []);
    return { ...this.#left(name, values), ...spreadOf(values), mean: meanOf(values), total: totalOf(values) };
  }

  #ratio(name: RatioName): RatioFigures {
    const { numerators, denominators } = this.#ratioOf(name);
    const ratios = sortedOf(this.#ratiosOf(name));
    const sums = { above: totalOf(sortedOf(numerators)), below: totalOf(sortedOf(denominators)) };
    const ratioOfMeans = ratios.length === 0 ? null : sums.above / sums.below;
    return { ...this.#left(name, ratios), ...spreadOf(ratios), meanOfRatios: meanOf(ratios), ratioOfMeans };
  }

  /** Over how many runs a figure is, and how many it leaves out. */
  #left(name: MeasureName | RatioName, { length: runs }: { readonly length: number }) {
    const skewed = this.#skewed.get(name) ?? 0;
    return { runs, without: this.#runs.counted - runs - skewed, skewed };
  }

  #distributed(name: DistributionName): readonly number[] {
    return name === 'parallelismRatio' ? this.#ratiosOf(name) : (this.#values.get(name) ?? []);
  }

  #ratiosOf(name: RatioName): number[] {
    const { numerators, denominators } = this.#ratioOf(name);
    return numerators.map((numerator, at) => numerator / (denominators[at] ?? 1));
  }

  #ratioOf(name: RatioName): Ratio {
    return this.#ratios.get(name) ?? { numerators: [], denominators: [] };
  }

  #skew(name: MeasureName | RatioName): void {
    this.#skewed.set(name, (this.#skewed.get(name) ?? 0) + 1);
  }
}

/** What was measured before a figure was thought of has none of it. */
function valueOf({ values }: MeasuredRun, name: MeasureName): number | null {
  return values[name] ?? null;
}

function sumUnlessNone(values: readonly (number | null)[]): number | null {
  return values.reduce<number | null>((sum, value) => (sum === null || value === null ? null : sum + value), 0);
}

function recordOf<N extends string, T>(names: readonly N[], of: (name: N) => T): Record<N, T> {
  return Object.fromEntries(names.map((name) => [name, of(name)])) as Record<N, T>;
}
