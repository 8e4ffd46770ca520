import { figuresOfRuns, MEASURE_NAMES, MEASURES, RATIO_NAMES, RATIOS, type TalliedRun } from '#libs/constellation';
import { DistributionName, type FiguresAnswer } from '#proto';
import { CANCELLED, CHAIN, DIAMOND, EDITED, FAILED, RETRIED } from '../../libs/constellation/testing/figure-runs.js';
import { metricsLines } from '../../services/cli/commands/metrics/metrics-text.js';

const HARD: readonly TalliedRun[] = [EDITED, RETRIED, FAILED];
const EASY: readonly TalliedRun[] = [DIAMOND, CHAIN, CANCELLED];

/** What is shown of six runs whose figures are counted by hand in a test of their own. */
function example(by: string | null): string {
  const groups =
    by === null
      ? []
      : [
          { value: 'easy', ...figuresOfRuns(EASY) },
          { value: 'hard', ...figuresOfRuns(HARD) },
        ];
  const upTo = { sequence: 1, at: null, behind: 0 };
  const answer: FiguresAnswer = {
    ...figuresOfRuns([...EASY, ...HARD]),
    by,
    groups,
    groupsLeft: 0,
    unknownLabels: [],
    upTo,
  };
  return metricsLines(answer, { isTerminal: true, color: false, columns: 80 }).join('\n');
}

/** The definitions, and what they come to. */
export function evaluationTables(): string {
  const ratios = RATIO_NAMES.map((name) => [name, RATIOS[name]] as const);
  const measures = MEASURE_NAMES.map((name) => [name, MEASURES[name]] as const);
  const rows = (all: typeof ratios | typeof measures): string[] =>
    all.map(
      ([name, { says, formula, unit, paper = '' }]) => `| \`${name}\` | ${says} | ${formula} | ${unit} | ${paper} |`,
    );
  return [
    '## An example',
    'Six runs: a diamond, a chain, one that failed, one that was cancelled, one with a second attempt, one that a planner edited.',
    `\`\`\`text\n${example(null)}\n\`\`\``,
    'The same with `--by difficulty`:',
    `\`\`\`text\n${example('difficulty')}\n\`\`\``,
    '## Ratios',
    'Each as `meanOfRatios` and as `ratioOfMeans`.',
    ['| Name | Tells | Of one run | Unit | Paper |', '| --- | --- | --- | --- | --- |', ...rows(ratios)].join('\n'),
    '## Measures',
    'Each as mean, median, `p95`, standard deviation, minimum, maximum and total, over runs.',
    ['| Name | Tells | Of one run | Unit | Paper |', '| --- | --- | --- | --- | --- |', ...rows(measures)].join('\n'),
    '## Distributions',
    `How many runs are in which range, with ranges that are always the same, for ${DistributionName.options.map((name) => `\`${name}\``).join(', ')}.`,
    '',
  ].join('\n\n');
}
