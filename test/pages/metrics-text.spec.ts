import { describe, expect, it } from '@jest/globals';
import { figuresOfRuns, type TalliedRun } from '#libs/constellation';
import type { FiguresAnswer } from '#proto';
import { CANCELLED, CHAIN, DIAMOND, EDITED, FAILED, RETRIED } from '../../libs/constellation/testing/figure-runs.js';
import { CliCommand } from '../../services/cli/terminal/index.js';
import { metricsLines, remarksOf } from '../../services/cli/commands/metrics/metrics-text.js';
import { defineMetrics } from '../../services/cli/commands/metrics/metrics.command.js';

const RUNS: readonly TalliedRun[] = [DIAMOND, CHAIN, FAILED, CANCELLED, RETRIED, EDITED];
const NARROW = { isTerminal: true, color: false, columns: 80 };

const answerOf = (runs: readonly TalliedRun[], change: Partial<FiguresAnswer> = {}): FiguresAnswer => ({
  ...figuresOfRuns(runs),
  by: null,
  groups: [],
  groupsLeft: 0,
  unknownLabels: [],
  upTo: { sequence: 9, at: null, behind: 0 },
  ...change,
});

describe('figures on a terminal', () => {
  const lines = metricsLines(answerOf(RUNS), NARROW);
  const line = (begins: string): string => lines.find((one) => one.startsWith(begins)) ?? '';

  it('fit 80 columns, and are as wide as the screen otherwise', () => {
    expect(lines.filter((one) => Array.from(one).length > 80)).toEqual([]);
    const wide = metricsLines(answerOf(RUNS), { ...NARROW, columns: 140 });
    expect(wide.find((one) => one.startsWith('RATIO'))).toContain('SD');
    const groups = [{ value: 'l'.repeat(63), ...figuresOfRuns(RUNS) }];
    const narrow = metricsLines(answerOf(RUNS, { by: 'level', groups }), NARROW);
    expect(narrow.filter((one) => Array.from(one).length > 80)).toEqual([]);
  });

  it('tell a mean of ratios from a ratio of means', () => {
    expect(line('RATIO')).toMatch(/RUNS +MEAN OF RATIOS +RATIO OF MEANS/u);
    expect(line('parallelism (P = W / L)')).toMatch(/ 5 +1\.33 +1\.06/u);
    expect(line('subtask completion rate (SCR)')).toMatch(/ 5 +80\.0 % +90\.0 %/u);
    expect(line('end-to-end latency')).toMatch(/ 6 +94\.7 s/u);
    expect(line('critical path length (L)')).toMatch(/ 5 +103\.6 s/u);
  });

  it('have a bar for each range', () => {
    const from = lines.indexOf('RUNS BY PARALLELISM (P = W / L)') + 1;
    expect(lines.slice(from, from + 6)).toEqual([
      `    1 to 1.25  ${'#'.repeat(40)} 3`,
      `  1.25 to 1.5  ${'#'.repeat(14)} 1`,
      '  1.5 to 1.75  0',
      '    1.75 to 2  0',
      `     2 to 2.5  ${'#'.repeat(14)} 1`,
      '',
    ]);
  });

  it('are one line for each value of a label, and one for all', () => {
    const groups = [
      { value: 'hard', ...figuresOfRuns([CHAIN, RETRIED]) },
      { value: null, ...figuresOfRuns([DIAMOND]) },
    ];
    const text = metricsLines(answerOf([CHAIN, RETRIED, DIAMOND], { by: 'level', groups }), NARROW);
    const table = text.slice(text.indexOf('PARALLELISM (table 4)') + 1).slice(0, 4);
    expect(table.map((row) => row.split(/ {2,}/u))).toEqual([
      ['LEVEL', 'RUNS', 'MAX WIDTH', 'L', 'W', 'P (MR)', 'P (RM)'],
      ['hard', '2', '1', '204.0 s', '209.0 s', '1.63', '1.02'],
      ['(none)', '1', '2', '50.0 s', '70.0 s', '1.40', '1.40'],
      ['all runs', '3', '1.33', '152.7 s', '162.7 s', '1.55', '1.07'],
    ]);
  });

  it('are nothing for no runs, and it is said', () => {
    expect(metricsLines(answerOf([]), NARROW)).toEqual([]);
    expect(remarksOf(answerOf([], { unknownLabels: [{ label: 'taem', meant: 'team' }, { label: 'x' }] }))).toEqual([
      'No run matches; "orrery runs" lists all of them.',
      'no run at all has the label taem; did you mean team?',
      'no run at all has the label x',
    ]);
    expect(metricsLines(answerOf(['open', 'behind']), NARROW)).toEqual([]);
  });

  it('say what they leave out, and why', () => {
    const skewed: TalliedRun = { values: { ...CHAIN.values, workMs: null }, skewed: ['workMs'] };
    const runs: TalliedRun[] = [CHAIN, skewed, 'open', 'open', 'behind', 'unreadable'];
    const upTo = { sequence: 9, at: null, behind: 4 };
    expect(remarksOf(answerOf(runs, { by: 'level', groupsLeft: 7, upTo }))).toEqual([
      'left out: 2 that have not ended',
      'left out: 1 that have ended and are not measured yet',
      'left out: 1 that cannot be read; orrery verify --all says why',
      'left out by clock skew, in up to 1 runs something ended before it began: total execution time (W)',
      '7 more values of level have fewer runs, and no figures here',
      'not complete yet: the newest 4 commits of runs are not measured',
    ]);
    expect(metricsLines(answerOf(runs), NARROW)[0]).toBe('6 runs match; the figures are of the 2 that have ended.');
  });
});

describe('what is typed', () => {
  const faultOf = async (...words: string[]): Promise<string> => {
    const program = new CliCommand(() => Promise.resolve(), 'orrery').exitOverride();
    defineMetrics(program);
    for (const command of [program, ...program.commands]) {
      command.exitOverride().configureOutput({ writeErr: () => {} });
    }
    return program.parseAsync(['metrics', ...words], { from: 'user' }).then(
      () => '',
      (error: unknown) => String(error),
    );
  };

  it.each([
    [['--since', '7d', '--until', '2026-11-01T00:00:00.000Z'], ''],
    [['--since', 'yesterday'], 'or an instant: 2026-11-01T00:00:00.000Z.'],
    [['--until', '2026-11-01'], 'or an instant: 2026-11-01T00:00:00.000Z.'],
    [['--since', '7w'], 'A number with m, h or d is needed'],
    [['--status', 'complete'], 'Did you mean completed?'],
  ])('%j', async (words, fault) => {
    expect(await faultOf(...words)).toContain(fault);
  });
});
