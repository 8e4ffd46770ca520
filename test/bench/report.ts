import type { Aim, Measured } from './workload.js';

const MIB = 1024 * 1024;

export interface Verdict {
  readonly workload: string;
  readonly what: string;
  readonly value: number;
  readonly limit: number;
  readonly unit: string;
  readonly met: boolean;
}

export function verdictOf(workload: string, aim: Omit<Aim, 'value'>, value: number): Verdict {
  const { what, limit, unit, atLeast = false } = aim;
  return { workload, what, value, limit, unit, met: atLeast ? value >= limit : value <= limit };
}

const COLUMNS = [
  'workload',
  'median',
  'p99',
  'min',
  'n',
  'raw appends',
  'ratio',
  'tasks/s',
  'appends per task',
  'CPU s per 1,000 tasks',
  'RSS max, MiB',
  'settled after',
  'load',
];

/** The table as Markdown: as it is printed, and as it goes into the documentation. */
export function tableOf(table: readonly Measured[]): string {
  const rows = table.map((measured) => {
    const { measure, spread, floorMs, ratio, tasksPerSecond, rssBytes, settledMs, loadBefore, loadAfter } = measured;
    return [
      measure,
      ms(spread.median),
      ms(spread.p99),
      ms(spread.min),
      String(spread.count),
      floorMs === null ? '-' : ms(floorMs),
      ratio === null ? '-' : ratio.toFixed(1),
      tasksPerSecond.toFixed(0),
      partsOf(measured.appendsPerTask),
      `${measured.cpuPerThousandInAll.toFixed(2)} (${partsOf(measured.cpuPerThousand)})`,
      Object.entries(rssBytes)
        .map(([name, bytes]) => `${name} ${(bytes / MIB).toFixed(0)}`)
        .join(', '),
      settledMs === null ? '-' : ms(settledMs),
      `${loadBefore.toFixed(1)}-${loadAfter.toFixed(1)}`,
    ];
  });
  const lines = [COLUMNS, COLUMNS.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** One line per aim, with the distance of those that are missed. */
export function verdictsOf(verdicts: readonly Verdict[]): string {
  return verdicts
    .map(({ workload, what, value, limit, unit, met }) => {
      const said = `${workload}: ${what} ${figure(value)} ${unit}, aim ${figure(limit)} ${unit}`;
      return met ? `met     ${said}` : `MISSED  ${said}${limit === 0 ? '' : `, off by ${factor(value, limit)}`}`;
    })
    .join('\n');
}

function factor(value: number, limit: number): string {
  return `a factor of ${(value > limit ? value / limit : limit / value).toFixed(2)}`;
}

function partsOf(parts: Readonly<Record<string, number>>): string {
  return Object.entries(parts)
    .map(([name, value]) => `${name} ${value.toFixed(2)}`)
    .join(', ');
}

function ms(value: number): string {
  return `${figure(value)} ms`;
}

function figure(value: number): string {
  return value >= 100 || Number.isInteger(value) ? value.toFixed(0) : value.toFixed(2);
}
