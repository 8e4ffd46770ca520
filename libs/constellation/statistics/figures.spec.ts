import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MeasureName, RatioName, type FiguresAnswer, type RunEvent } from '#proto';
import { CANCELLED, CHAIN, DIAMOND, EDITED, FAILED, figuresOf, RETRIED } from '../testing/figure-runs.js';
import {
  abandoned,
  at,
  commitsOf,
  completed,
  created,
  ended,
  failed,
  HASH,
  opened,
  ops,
  reopened,
  started,
} from '../testing/facts.js';
import { binsOf } from './bins.js';
import { figuresCsv } from './figures-csv.js';
import { figuresOfRuns, FiguresTally } from './figures-tally.js';
import { MEASURES, RATIOS } from './quantities.js';
import { runFiguresOf, type MeasuredRun } from './run-figures.js';
import { sortedOf, spreadOf } from './spread.js';

describe('the figures of one run', () => {
  it('are those of the paper, counted by hand', () => {
    expect(DIAMOND).toMatchObject({
      skewed: [],
      values: {
        succeeded: 1,
        subtasksTried: 4,
        devices: 2,
        tasksAtFirst: 4,
        dependenciesAtLast: 4,
        maxWidth: 2,
        peakConcurrency: 2,
        criticalPathMs: 50_000,
        workMs: 70_000,
        endToEndMs: 52_000,
        orchestrationMs: 0,
        creationMs: null,
        editingRounds: 0,
        judgedSucceeded: null,
      },
    });
    expect(CHAIN.values).toMatchObject({ criticalPathMs: 400_000, workMs: 400_000, maxWidth: 1, peakConcurrency: 1 });
    expect(FAILED.values).toMatchObject({ succeeded: 0, subtasksTried: 1, subtasksSkipped: 1, workMs: 20_000 });
    expect(RETRIED.values).toMatchObject({ attempts: 2, attemptsCompleted: 1, subtasksStarted: 1, devices: 2 });
    expect(RETRIED.values).toMatchObject({ workMs: 18_000, criticalPathMs: 8_000 });
  });

  it('have no time of what never ran, and no 0 in its place', () => {
    expect(CANCELLED.values).toMatchObject({ attempts: 0, workMs: null, criticalPathMs: null, endToEndMs: 5_000 });
    // Its attempt has no end.
    const lost = figuresOf([...created(['a', 'b']), started('a', 0), started('b', 0), completed('a', 9), ended(9)]);
    expect(lost.values).toMatchObject({ attempts: 2, workMs: null, criticalPathMs: null, waitedMs: null });
  });

  it('tell what the planner did, and how long it took', () => {
    expect(EDITED.values).toMatchObject({
      tasksAtFirst: 1,
      tasksAtLast: 2,
      addedTasks: 1,
      addedDependencies: 1,
      changes: 2,
      edits: 2,
      rounds: 4,
      roundsAbandoned: 1,
      creationMs: 16_000,
      editingMs: 14_000,
      editingRounds: 3,
      orchestrationMs: 30_000,
      llmCalls: 2,
      tokens: 700,
      costUsd: 0.03,
    });
  });

  it('are taken back with the end of the run, and count to the last one', () => {
    const facts = [...created(['a']), started('a', 0), failed('a', 10), ended(10, { outcome: 'partially_failed' })];
    const again: RunEvent = { type: 'RUN_REOPENED', data: { by: ops, reopenedAt: at(50), deadlineAt: at(900) } };
    expect(runFiguresOf(commitsOf(facts, [again]))).toBeNull();
    const more = [reopened('a', 50), started('a', 50, 2), completed('a', 80, 2), ended(80)];
    const { values } = figuresOf(facts, [again], more);
    expect(values).toMatchObject({ succeeded: 1, attempts: 2, endToEndMs: 80, workMs: 40, criticalPathMs: 30 });
  });

  it('take what the evaluation agent says, and leave out what it is not sure of', () => {
    const evaluation = (complete: 'yes' | 'no' | 'unsure'): RunEvent => ({
      type: 'RUN_ANNOTATED',
      data: {
        kind: 'evaluation',
        evaluation: {
          reason: 'looked at it',
          sub_scores: [{ name: 'all', evaluation: complete }],
          complete,
          subtasks: [
            { task_id: 'a', evaluation: 'yes' },
            { task_id: 'b', evaluation: 'no' },
            { task_id: 'c', evaluation: 'unsure' },
          ],
        },
        annotatedAt: at(90),
        planHash: HASH,
      } as never,
    });
    const facts = [...created(['a']), started('a', 0), completed('a', 10), ended(10)];
    expect(figuresOf(facts, [evaluation('yes')]).values).toMatchObject({
      judgedSucceeded: 1,
      subtasksJudged: 2,
      subtasksJudgedSucceeded: 1,
    });
    expect(figuresOf(facts, [evaluation('yes')], [evaluation('unsure')]).values).toMatchObject({
      judgedSucceeded: null,
    });
  });

  it('leave out what ended before it began, by name', () => {
    const attempt = figuresOf([...created(['a']), started('a', 100), completed('a', 40), ended(120)]);
    expect(attempt.skewed).toEqual(['criticalPathMs', 'workMs', 'waitedMs']);
    expect(attempt.values).toMatchObject({ workMs: null, endToEndMs: 120 });
    expect(figuresOf([...created(['a']), ended(-1)]).skewed).toEqual(['endToEndMs']);
    const round = figuresOf([...created(['a']), opened('e1', 50), abandoned('e1', 20), ended(60)]);
    expect(round.skewed).toEqual(['orchestrationMs', 'creationMs', 'editingMs']);
  });

  it('are none of a run that has not ended', () => {
    expect(runFiguresOf([])).toBeNull();
    expect(runFiguresOf(commitsOf([...created(['a']), started('a', 0)]))).toBeNull();
  });
});

describe('the figures of many runs', () => {
  it('are zeros and nothings for no runs', () => {
    const { runs, measures, ratios, distributions } = figuresOfRuns([]);
    expect(runs).toEqual({ matching: 0, counted: 0, open: 0, behind: 0, unreadable: 0 });
    expect(measures.workMs).toEqual({
      runs: 0,
      without: 0,
      skewed: 0,
      mean: null,
      median: null,
      p95: null,
      standardDeviation: null,
      minimum: null,
      maximum: null,
      total: 0,
    });
    expect(ratios.parallelismRatio).toMatchObject({ runs: 0, meanOfRatios: null, ratioOfMeans: null });
    expect(distributions.parallelismRatio).toEqual([]);
  });

  it('of one run are its own, and deviate from nothing', () => {
    const { measures, ratios } = figuresOfRuns([DIAMOND]);
    expect(measures.workMs).toMatchObject({
      runs: 1,
      mean: 70_000,
      median: 70_000,
      p95: 70_000,
      standardDeviation: null,
    });
    expect(ratios.parallelismRatio).toMatchObject({ meanOfRatios: 1.4, ratioOfMeans: 1.4 });
  });

  it('tell a mean of ratios from a ratio of means, and say of how many runs each is', () => {
    const { runs, measures, ratios } = figuresOfRuns([
      DIAMOND,
      CHAIN,
      FAILED,
      CANCELLED,
      RETRIED,
      EDITED,
      'open',
      'behind',
    ]);
    expect(runs).toEqual({ matching: 8, counted: 6, open: 1, behind: 1, unreadable: 0 });
    // P: 70/50, 400/400, 20/20, none, 18/8, 40/40.
    expect(ratios.parallelismRatio).toMatchObject({
      runs: 5,
      without: 1,
      skewed: 0,
      median: 1,
      p95: 2.25,
      maximum: 2.25,
    });
    expect(ratios.parallelismRatio.meanOfRatios).toBeCloseTo((1.4 + 1 + 1 + 2.25 + 1) / 5, 12);
    expect(ratios.parallelismRatio.ratioOfMeans).toBeCloseTo(548 / 518, 12);
    // 4 of 4, 2 of 2, 0 of 1, none tried, 1 of 1, 2 of 2.
    expect(ratios.subtaskSuccessRatio).toMatchObject({
      runs: 5,
      without: 1,
      meanOfRatios: 4 / 5,
      ratioOfMeans: 9 / 10,
    });
    expect(ratios.requestSuccessRatio).toMatchObject({ runs: 6, meanOfRatios: 4 / 6, ratioOfMeans: 4 / 6 });
    expect(ratios.changesPerEdit).toMatchObject({ runs: 1, without: 5, meanOfRatios: 1, ratioOfMeans: 1 });
    expect(measures.changes).toMatchObject({ runs: 6, mean: 2 / 6, total: 2, median: 0 });
    expect(measures.creationMs).toMatchObject({ runs: 1, without: 5, mean: 16_000 });
    expect(ratios.editMs).toMatchObject({ runs: 1, meanOfRatios: 14_000 / 3 });
    expect(ratios.sequentialRatio.maximum).toBeCloseTo(21 / 18, 12);
  });

  it('leave out and count what clocks have made impossible', () => {
    const skewed = figuresOf([...created(['a']), started('a', 100), completed('a', 40), ended(120)]);
    const { measures, ratios } = figuresOfRuns([skewed, CHAIN]);
    expect(measures.workMs).toMatchObject({ runs: 1, without: 0, skewed: 1, mean: 400_000 });
    expect(ratios.parallelismRatio).toMatchObject({ runs: 1, without: 0, skewed: 1, meanOfRatios: 1 });
    expect(measures.endToEndMs).toMatchObject({ runs: 2, skewed: 0 });
  });

  it('have ranges that hold every run once, at their beginnings too', () => {
    expect(binsOf('parallelismRatio', [1, 1.24, 1.25, 2.5, 1_000])).toEqual([
      { from: 1, to: 1.25, runs: 2 },
      { from: 1.25, to: 1.5, runs: 1 },
      { from: 1.5, to: 1.75, runs: 0 },
      { from: 1.75, to: 2, runs: 0 },
      { from: 2, to: 2.5, runs: 0 },
      { from: 2.5, to: 3, runs: 1 },
      { from: 3, to: 4, runs: 0 },
      { from: 4, to: 6, runs: 0 },
      { from: 6, to: 8, runs: 0 },
      { from: 8, to: 12, runs: 0 },
      { from: 12, to: 16, runs: 0 },
      { from: 16, to: 32, runs: 0 },
      { from: 32, to: 64, runs: 0 },
      { from: 64, to: 128, runs: 0 },
      { from: 128, to: null, runs: 1 },
    ]);
    expect(binsOf('tasksAtLast', [0, 0, 4])).toMatchObject([
      { from: 0, runs: 2 },
      { from: 1, runs: 0 },
      { from: 2, runs: 0 },
      { from: 3, to: 5, runs: 1 },
    ]);
  });

  it('need nothing of a run that was measured before a figure was thought of', () => {
    const { workMs: _, ...values } = DIAMOND.values;
    const { measures, ratios } = figuresOfRuns([{ skewed: [], values: values as never }]);
    expect([measures.workMs.without, ratios.parallelismRatio.without]).toEqual([1, 1]);
  });
});

/** Some runs of whatever numbers, with nothings and skew among them. */
const runs = fc.array(
  fc.record({
    numbers: fc.array(fc.option(fc.integer({ min: 0, max: 1_000_000 }), { freq: 5 }), {
      minLength: MeasureName.options.length,
      maxLength: MeasureName.options.length,
    }),
    skewed: fc.subarray(['workMs', 'criticalPathMs', 'endToEndMs'] as const),
  }),
  { maxLength: 40 },
);

describe('over whatever runs', () => {
  it('every ratio is what a naive count says, both ways, and every run is counted once', () => {
    fc.assert(
      fc.property(runs, (given) => {
        const all = given.map(({ numbers, skewed }): MeasuredRun => {
          const values = Object.fromEntries(MeasureName.options.map((name, index) => [name, numbers[index] ?? null]));
          for (const name of skewed) values[name] = null;
          return { values: values as MeasuredRun['values'], skewed };
        });
        const { measures, ratios } = figuresOfRuns(all);
        for (const name of RatioName.options) {
          const { numerator, denominator } = RATIOS[name];
          let [count, sumOfRatios, above, below] = [0, 0, 0, 0];
          for (const { values } of all) {
            const top = values[numerator];
            const bottoms = denominator.map((part) => values[part]);
            if (top === null || bottoms.includes(null)) continue;
            const bottom = denominator.length === 0 ? 1 : bottoms.reduce<number>((sum, part) => sum + (part ?? 0), 0);
            if (bottom === 0) continue;
            count += 1;
            sumOfRatios += top / bottom;
            above += top / all.length;
            below += bottom / all.length;
          }
          const told = ratios[name];
          expect(told.runs + told.without + told.skewed).toBe(all.length);
          expect(told.runs).toBe(count);
          if (count === 0) expect([told.meanOfRatios, told.ratioOfMeans]).toEqual([null, null]);
          else {
            expect(told.meanOfRatios).toBeCloseTo(sumOfRatios / count, 6);
            expect((told.ratioOfMeans ?? NaN) / (above / below || 1)).toBeCloseTo(above === 0 ? 0 : 1, 9);
          }
        }
        // Not even by the last digit.
        expect(figuresOfRuns(all.toReversed())).toEqual(figuresOfRuns(all));
        for (const name of MeasureName.options) {
          const { runs: counted, without, skewed } = measures[name];
          expect(counted + without + skewed).toBe(all.length);
        }
      }),
      { seed: 95, numRuns: 100 },
    );
  });

  it('median, percentile and deviation are those of a naive count, in whatever order', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -1_000, max: 1_000 }), { minLength: 2, maxLength: 60 }), (values) => {
        const sorted = values.toSorted((one, other) => one - other);
        const { median, p95, standardDeviation, minimum, maximum } = spreadOf(sortedOf(values));
        const below = sorted.filter((value) => value < (median ?? 0)).length;
        const above = sorted.filter((value) => value > (median ?? 0)).length;
        expect(Math.max(below, above)).toBeLessThanOrEqual(values.length / 2);
        // The smallest value that at least 95 % do not exceed.
        expect(p95).toBe(
          sorted.find((value) => sorted.filter((one) => one <= value).length * 20 >= values.length * 19),
        );
        const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
        const variance = values.reduce((sum, value) => sum + (value - mean) * (value - mean), 0) / (values.length - 1);
        expect(standardDeviation).toBeCloseTo(Math.sqrt(variance), 9);
        expect([minimum, maximum]).toEqual([sorted[0], sorted.at(-1)]);
      }),
      { seed: 95, numRuns: 200 },
    );
  });
});

describe('as comma-separated values', () => {
  const tally = new FiguresTally();
  for (const run of [DIAMOND, CHAIN]) tally.add(run);
  const figures = tally.result();
  const answer: FiguresAnswer = {
    ...figures,
    by: 'level',
    groups: [
      { value: 'hard', ...figuresOfRuns([CHAIN]) },
      { value: null, ...figuresOfRuns([DIAMOND]) },
    ],
    groupsLeft: 0,
    unknownLabels: [],
    upTo: { sequence: 1, at: null, behind: 0 },
  };
  const [head = '', ...rows] = figuresCsv(answer).trimEnd().split('\r\n');

  it('has the same columns for ever, and the unit in the name of what has one', () => {
    expect(head).toBe(
      'group_key,group_value,quantity,kind,unit,runs,without,skewed,mean,mean_of_ratios,ratio_of_means,median,p95,standard_deviation,minimum,maximum,total',
    );
    const units = rows
      .map((row) => row.split(','))
      .map(([, , quantity = '', , unit = '']) => [quantity, unit] as const);
    for (const [quantity, unit] of units) {
      if (unit === 'ms' || unit === 'usd') expect(quantity.endsWith(`_${unit}`)).toBe(true);
    }
    expect(rows).toHaveLength(3 * (5 + MeasureName.options.length + RatioName.options.length));
  });

  it('has a line for each quantity of all runs and of each group', () => {
    expect(rows).toContain(
      ',,parallelism_ratio,ratio,ratio,2,0,0,,1.2,1.0444444444444445,1.2,1.4,0.28284271247461895,1,1.4,',
    );
    expect(rows).toContain('level,hard,work_ms,measure,ms,1,0,0,400000,,,400000,400000,,400000,400000,400000');
    expect(rows).toContain('level,,counted_runs,runs,count,,,,,,,,,,,,1');
    expect(rows.filter((row) => row.split(',').length !== 17)).toEqual([]);
  });
});

it('every quantity says what it is', () => {
  const all = [...Object.values(MEASURES), ...Object.values(RATIOS)];
  expect(all.filter(({ says, formula }) => says.length < 4 || says.length > 32 || formula.length < 4)).toEqual([]);
});
