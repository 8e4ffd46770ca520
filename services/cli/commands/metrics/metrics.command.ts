// The words of `orrery metrics`.
import { InvalidArgumentError } from 'commander';
import { Instant, parseWith, RunStatus, meantName } from '#proto';
import { commaList, define, spanMs, type CliCommand } from '../../terminal/index.js';
import type { SaidMoment, MetricsOptions } from './metrics.runner.js';

const STATUSES = RunStatus.options.map((status) => status.toLowerCase());

export function defineMetrics(program: CliCommand): void {
  define(program, 'metrics', 'figures over all runs that match: success, changes, parallelism, latency, use', [
    'orrery metrics --since 7d',
    'orrery metrics --label bench=nebula --by difficulty',
    'orrery metrics --label team=db --status completed,failed --requester anna',
    'orrery metrics --since 2026-11-01T00:00:00.000Z --until 2d --json',
    'orrery metrics --label bench --by difficulty --csv > figures.csv',
  ])
    .option('--label <key[=value]>', 'of runs with this label, or this key; may be said again', collected)
    .option('--since <when>', 'asked for since then: 90m, 12h, 7d ago, or an instant', momentFrom)
    .option('--until <when>', 'asked for until then', momentFrom)
    .option('--requester <actor>', 'asked for by this person or system')
    .option('--status <list>', `one of these: ${STATUSES.join(', ')}`, statusesFrom)
    .offering('--status', STATUSES)
    .option('--by <key>', 'the same for every value of this label')
    .option('--csv', 'print comma-separated values, with all figures')
    .does(async (context, options: MetricsOptions) =>
      (await import('./metrics.runner.js')).showMetrics(context, options),
    );
}

const collected = (text: string, before: readonly string[] = []): string[] => [...before, text];

function momentFrom(text: string): SaidMoment {
  if (/^\d+[a-z]$/u.test(text)) return { agoMs: spanMs(text) };
  const parsed = parseWith(Instant, text);
  if (parsed.ok) return { at: parsed.value };
  throw new InvalidArgumentError(
    'A span before now is needed, for example 90m, 12h or 7d, or an instant: 2026-11-01T00:00:00.000Z.',
  );
}

function statusesFrom(text: string, before: readonly RunStatus[] = []): RunStatus[] {
  return commaList(text, before).map((word) => {
    const status = RunStatus.options.find((one) => one === word.toUpperCase());
    if (status !== undefined) return status;
    const meant = meantName(word, STATUSES);
    throw new InvalidArgumentError(
      `There is ${STATUSES.join(', ')}.${meant === undefined ? '' : ` Did you mean ${meant}?`}`,
    );
  });
}
