import type { FiguresAnswer, FiguresOfRuns } from '#proto';
import { MEASURE_NAMES, MEASURES, RATIO_NAMES, RATIOS } from './quantities.js';

/** Columns are only ever added, at the end. */
const COLUMNS = [
  'group_key',
  'group_value',
  'quantity',
  'kind',
  'unit',
  'runs',
  'without',
  'skewed',
  'mean',
  'mean_of_ratios',
  'ratio_of_means',
  'median',
  'p95',
  'standard_deviation',
  'minimum',
  'maximum',
  'total',
] as const;

type Row = Partial<Readonly<Record<(typeof COLUMNS)[number], string | number | null>>>;

/**
 * All figures as a table with one line for each quantity of each group, first of all runs, in the manner of RFC 4180. What has no value is
 * empty. Nothing in it needs quotes: names are ours, and a label has an alphabet of its own.
 */
export function figuresCsv(answer: FiguresAnswer): string {
  const rows = [
    ...rowsOf(answer, {}),
    ...answer.groups.flatMap((group) => rowsOf(group, { group_key: answer.by, group_value: group.value })),
  ];
  const lines = rows.map((row) => COLUMNS.map((column) => row[column] ?? '').join(','));
  return [COLUMNS.join(','), ...lines].map((line) => `${line}\r\n`).join('');
}

function rowsOf({ runs, measures, ratios }: FiguresOfRuns, group: Row): Row[] {
  const counts = Object.entries(runs).map(([name, total]) => ({
    quantity: `${name}_runs`,
    kind: 'runs',
    unit: 'count',
    total,
  }));
  const measured = MEASURE_NAMES.map((name) => {
    const { standardDeviation, ...figures } = measures[name];
    const row = { quantity: columnName(name), kind: 'measure', unit: MEASURES[name].unit };
    return { ...row, ...figures, standard_deviation: standardDeviation };
  });
  const quotients = RATIO_NAMES.map((name) => {
    const { standardDeviation, meanOfRatios, ratioOfMeans, ...figures } = ratios[name];
    const row = { quantity: columnName(name), kind: 'ratio', unit: RATIOS[name].unit };
    return {
      ...row,
      ...figures,
      standard_deviation: standardDeviation,
      mean_of_ratios: meanOfRatios,
      ratio_of_means: ratioOfMeans,
    };
  });
  return [...counts, ...measured, ...quotients].map((row) => ({ ...group, ...row }));
}

/** `criticalPathMs` -> `critical_path_ms`. */
const columnName = (name: string): string => name.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`);
