import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');
export const METRICS_PAGE = 'docs/metrics.md';

/** A row of the table. */
export interface DocumentedMetric {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  /** Who exposes it. */
  readonly services: readonly string[];
  readonly help: string;
}

const SERVICES = ['orchestrator', 'registry', 'aip-gateway', 'device-agent', 'planner', 'logging', 'console'];

/** What docs/metrics.md says that there is. */
export function documentedMetrics(page = readFileSync(join(ROOT, METRICS_PAGE), 'utf8')): DocumentedMetric[] {
  return page
    .split('\n')
    .filter((line) => line.startsWith('| `orrery_'))
    .map((line) => {
      const [name = '', type = '', labels = '', services = '', help = ''] = line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim());
      return {
        name: name.replaceAll('`', ''),
        type,
        labels: [...labels.matchAll(/`(\w+)`/gu)].map(([, label = '']) => label),
        services: services === 'each' ? SERVICES : services.split(', '),
        help,
      };
    });
}

/** The names of the series of a metric as queries name them: a histogram has three. */
export function seriesOf({ name, type }: Pick<DocumentedMetric, 'name' | 'type'>): string[] {
  return type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];
}
