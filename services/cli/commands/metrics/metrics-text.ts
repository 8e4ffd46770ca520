import {
  FIGURE_SECTIONS,
  MEASURE_NAMES,
  MEASURES,
  RATIO_NAMES,
  RATIOS,
  wordsOfDistribution,
  type FigureSection,
  type FigureUnit,
} from '#libs/constellation';
import type { DistributionName, FigureBin, FiguresAnswer, FiguresOfRuns, MeasureName, RatioName } from '#proto';
import { clipToWidth, paintFor, renderTable, type Column, type Paint, type Terminal } from '../../terminal/index.js';

type Screen = Pick<Terminal, 'isTerminal' | 'color' | 'columns'>;

/** Of what is no terminal: the same lines, as somebody may read them later. */
const COLUMNS = 80;
const BAR_CHARS_MAX = 40;
/** Of a label, where it heads a line: all of it is in the JSON. */
const GROUP_CHARS_MAX = 16;

/** Histograms that are drawn; all of them are in the JSON. */
const DRAWN: readonly DistributionName[] = ['parallelismRatio', 'tasksAtLast', 'devices', 'endToEndMs'];

/** Nothing where no run has figures. */
export function metricsLines(answer: FiguresAnswer, terminal: Screen): string[] {
  if (answer.runs.counted === 0) return [];
  const screen = { isTerminal: true, color: terminal.color, columns: terminal.isTerminal ? terminal.columns : COLUMNS };
  const paint = paintFor(terminal);
  const parts = answer.by === null ? figureTables(answer, screen, paint) : groupTables(answer, screen, paint);
  const drawn = DRAWN.flatMap((name) => histogram(name, answer.distributions[name], paint));
  return [runsText(answer), ...parts, ...drawn].flatMap((part) => part.split('\n'));
}

function runsText({ runs }: FiguresOfRuns): string {
  const { matching, counted } = runs;
  return matching === counted
    ? `${matching} runs match, and all of them have ended.`
    : `${matching} runs match; the figures are of the ${counted} that have ended.`;
}

/** What is not in the figures and why, and what else could be asked. Said about the work. */
export function remarksOf({ runs, measures, unknownLabels, groupsLeft, by, upTo }: FiguresAnswer): string[] {
  const skewed = MEASURE_NAMES.filter((name) => measures[name].skewed > 0);
  const most = Math.max(0, ...skewed.map((name) => measures[name].skewed));
  return [
    ...(runs.matching === 0 ? ['No run matches; "orrery runs" lists all of them.'] : []),
    ...unknownLabels.map(
      ({ label, meant }) =>
        `no run at all has the label ${label}${meant === undefined ? '' : `; did you mean ${meant}?`}`,
    ),
    ...(runs.open > 0 ? [`left out: ${runs.open} that have not ended`] : []),
    ...(runs.behind > 0 ? [`left out: ${runs.behind} that have ended and are not measured yet`] : []),
    ...(runs.unreadable > 0 ? [`left out: ${runs.unreadable} that cannot be read; orrery verify --all says why`] : []),
    ...(skewed.length > 0
      ? [
          `left out by clock skew, in up to ${most} runs something ended before it began: ` +
            skewed.map((name) => MEASURES[name].says).join(', '),
        ]
      : []),
    ...(groupsLeft > 0 ? [`${groupsLeft} more values of ${by ?? ''} have fewer runs, and no figures here`] : []),
    ...(upTo.behind > 0 ? [`not complete yet: the newest ${upTo.behind} commits of runs are not measured`] : []),
  ];
}

/** One line for each figure. */
function figureTables(figures: FiguresOfRuns, screen: Screen, paint: Paint): string[] {
  return FIGURE_SECTIONS.flatMap((section) => {
    const ratios = RATIO_NAMES.filter((name) => RATIOS[name].section === section && figures.ratios[name].runs > 0);
    const measures = MEASURE_NAMES.filter((name) => MEASURES[name].section === section && isTold(figures, name));
    return [
      ...(ratios.length + measures.length === 0 ? [] : ['', paint('bold', section.toUpperCase())]),
      ...(ratios.length === 0 ? [] : [renderTable(ratios, ratioColumns(figures), screen)]),
      ...(measures.length === 0 ? [] : [renderTable(measures, measureColumns(figures), screen)]),
    ];
  });
}

/** What the paper has is told also when it is 0 throughout. */
function isTold({ measures }: FiguresOfRuns, name: MeasureName): boolean {
  const { runs, maximum } = measures[name];
  return runs > 0 && (MEASURES[name].paper !== undefined || (maximum ?? 0) > 0);
}

function ratioColumns({ ratios }: FiguresOfRuns): Column<RatioName>[] {
  const number = (of: 'meanOfRatios' | 'ratioOfMeans' | 'median' | 'p95' | 'standardDeviation') => (name: RatioName) =>
    numberText(ratios[name][of], RATIOS[name]);
  return [
    { title: 'RATIO', value: (name) => RATIOS[name].says },
    { title: 'RUNS', value: (name) => String(ratios[name].runs) },
    { title: 'MEAN OF RATIOS', value: number('meanOfRatios') },
    { title: 'RATIO OF MEANS', value: number('ratioOfMeans') },
    { title: 'MEDIAN', value: number('median'), spare: true },
    { title: 'P95', value: number('p95'), spare: true },
    { title: 'SD', value: number('standardDeviation'), spare: true },
  ];
}

function measureColumns({ measures }: FiguresOfRuns): Column<MeasureName>[] {
  const number = (of: 'mean' | 'median' | 'p95' | 'standardDeviation' | 'maximum') => (name: MeasureName) =>
    numberText(measures[name][of], MEASURES[name]);
  return [
    { title: 'PER RUN', value: (name) => MEASURES[name].says },
    { title: 'RUNS', value: (name) => String(measures[name].runs) },
    { title: 'MEAN', value: number('mean') },
    { title: 'MEDIAN', value: number('median') },
    { title: 'P95', value: number('p95') },
    { title: 'SD', value: number('standardDeviation'), spare: true },
    { title: 'MAX', value: number('maximum'), spare: true },
  ];
}

interface Group extends FiguresOfRuns {
  readonly value: string;
}

type GroupColumn = readonly [title: string, value: (figures: FiguresOfRuns) => string];

const mean =
  (name: MeasureName) =>
  ({ measures }: FiguresOfRuns): string =>
    numberText(measures[name].mean, MEASURES[name]);
const ratio =
  (name: RatioName, of: 'meanOfRatios' | 'ratioOfMeans') =>
  ({ ratios }: FiguresOfRuns): string =>
    numberText(ratios[name][of], RATIOS[name]);

/** As the paper lays out its tables: one line for each group, means throughout. `MR`: mean of ratios, `RM`: ratio of means. */
const GROUP_TABLES: readonly (readonly [title: string, columns: readonly GroupColumn[]])[] = [
  [
    'SUCCESS (figure 20)',
    [
      ['TSR', ratio('requestSuccessRatio', 'meanOfRatios')],
      ['SCR (MR)', ratio('subtaskSuccessRatio', 'meanOfRatios')],
      ['SCR (RM)', ratio('subtaskSuccessRatio', 'ratioOfMeans')],
      ['JUDGED', ratio('judgedRequestSuccessRatio', 'meanOfRatios')],
    ],
  ],
  [
    'EVOLUTION (table 3, figure 21)',
    [
      ['TASKS', mean('tasksAtFirst')],
      ['AT LAST', mean('tasksAtLast')],
      ['DEPS', mean('dependenciesAtFirst')],
      ['AT LAST', mean('dependenciesAtLast')],
      ['CHANGES', mean('changes')],
      ['EDIT (MR)', ratio('changesPerEdit', 'meanOfRatios')],
      ['(RM)', ratio('changesPerEdit', 'ratioOfMeans')],
    ],
  ],
  [
    'PARALLELISM (table 4)',
    [
      ['MAX WIDTH', mean('maxWidth')],
      ['L', mean('criticalPathMs')],
      ['W', mean('workMs')],
      ['P (MR)', ratio('parallelismRatio', 'meanOfRatios')],
      ['P (RM)', ratio('parallelismRatio', 'ratioOfMeans')],
    ],
  ],
  [
    'LATENCY (figure 22)',
    [
      ['END TO END', mean('endToEndMs')],
      ['ORCHESTR.', mean('orchestrationMs')],
      ['CREATION', mean('creationMs')],
      ['EDIT (RM)', ratio('editMs', 'ratioOfMeans')],
      ['SUBTASK (RM)', ratio('subtaskMs', 'ratioOfMeans')],
    ],
  ],
];

/** One line for each group, behind all runs together. */
function groupTables(answer: FiguresAnswer, screen: Screen, paint: Paint): string[] {
  const title = clipToWidth((answer.by ?? '').toUpperCase(), GROUP_CHARS_MAX);
  const groups: Group[] = [
    ...answer.groups.map((group) => ({ ...group, value: clipToWidth(group.value ?? '(none)', GROUP_CHARS_MAX) })),
    { ...answer, value: 'all runs' },
  ];
  return GROUP_TABLES.flatMap(([head, columns]) => [
    '',
    paint('bold', head),
    renderTable(
      groups,
      [
        { title, value: ({ value }) => value },
        { title: 'RUNS', value: ({ runs }) => String(runs.counted) },
        ...columns.map(([name, value]) => ({ title: name, value })),
      ],
      screen,
    ),
  ]);
}

function histogram(name: DistributionName, bins: readonly FigureBin[], paint: Paint): string[] {
  const words = wordsOfDistribution(name);
  const most = Math.max(...bins.map(({ runs }) => runs));
  if (bins.length === 0 || most === 0) return [];
  const ranges = bins.map((bin) => rangeText(bin, words.unit));
  const width = Math.max(...ranges.map(({ length }) => length));
  const rows = bins.map(({ runs }, at) => {
    const bar = '#'.repeat(Math.ceil((runs / most) * BAR_CHARS_MAX));
    return `  ${(ranges[at] ?? '').padStart(width)}  ${bar}${bar === '' ? '' : ' '}${runs}`;
  });
  return ['', paint('bold', `RUNS BY ${words.says.toUpperCase()}`), ...rows];
}

/** `3 to 4` of what is counted, `1.25 to 1.5` of what is not: there the end is not in it. */
function rangeText({ from, to }: FigureBin, unit: FigureUnit): string {
  const text = (value: number): string => (unit === 'ms' ? `${value / 1_000} s` : String(value));
  if (to === null) return `${text(from)} or more`;
  if (unit !== 'count') return `${text(from)} to ${text(to)}`;
  return to - from === 1 ? text(from) : `${text(from)} to ${text(to - 1)}`;
}

/** Seconds as the paper has them; shares of successes in percent. */
function numberText(
  value: number | null,
  { unit, section }: { readonly unit: FigureUnit; readonly section: FigureSection },
): string {
  if (value === null) return '-';
  if (unit === 'ms') return `${(value / 1_000).toFixed(value < 10_000 ? 2 : 1)} s`;
  if (unit === 'usd') return `$${value.toFixed(4)}`;
  if (unit === 'ratio' && section === 'success') return `${(value * 100).toFixed(1)} %`;
  return Number.isInteger(value) && unit === 'count' ? String(value) : value.toFixed(2);
}
