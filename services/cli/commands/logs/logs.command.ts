// The words of `orrery logs`.
import { InvalidArgumentError } from 'commander';
import { define, spanMs, wholeFrom, type CliCommand } from '../../terminal/index.js';
import { LOG_LEVELS, type LogLevel } from './log-line.js';
import type { LogWords } from './logs.runner.js';

const LINES_MAX = 1_000_000;

export function defineLogs(program: CliCommand): void {
  define(program, 'logs', 'what a service, a local device, nats, postgres or "up" has logged', [
    'orrery logs console -n 20',
    'orrery logs orchestrator --follow --level warn',
    'orrery logs web-1 --since 10m',
    'orrery logs registry --since 2h --json | jq -r .msg',
  ])
    .argument('<service>')
    .option('-f, --follow', 'and what it logs from now on, until Ctrl-C')
    .option('--since <span>', 'of the last minutes, hours or days: 90m, 12h, 7d', spanMs)
    .option('-n, --lines <n>', 'at most so many of what is there; 100 without --since', wholeFrom(0, LINES_MAX))
    .option('--level <level>', `this and what matters more: ${LOG_LEVELS.join(', ')}`, levelFrom)
    .offering('--level', LOG_LEVELS)
    .does(async (context, service: string, words: LogWords) =>
      (await import('./logs.runner.js')).logs(context, service, words),
    );
}

function levelFrom(text: string): LogLevel {
  const level = LOG_LEVELS.find((one) => one === text.toLowerCase());
  if (level === undefined) throw new InvalidArgumentError(`There is ${LOG_LEVELS.join(', ')}.`);
  return level;
}
