// The words of `orrery attention`.
import { InvalidArgumentError } from 'commander';
import { AttentionKind, meantName } from '#proto';
import { commaList, define, WATCHED, wholeFrom, type CliCommand } from '../../terminal/index.js';
import type { AttentionWords } from './attention.runner.js';

const LIMIT_MAX = 1_000;
const TRY_SECONDS_MAX = 600;
const TRY_SECONDS = 10;
const TRYING = [
  '--timeout <s>',
  'how long to go on trying, for each entry',
  wholeFrom(1, TRY_SECONDS_MAX),
  TRY_SECONDS,
] as const;
const runner = () => import('./attention.runner.js');

export function defineAttention(program: CliCommand): void {
  const inbox = define(program, 'attention', 'what needs somebody: one inbox, newest first, with what to type', [
    'orrery attention',
    'orrery attention --kind failed,unknown --device web-1',
    'orrery attention --all --json',
    'orrery attention --watch',
    'orrery attention settle 4kq7 --reason "the disk was replaced"',
  ])
    .option('--kind <list>', `one of these: ${AttentionKind.options.join(', ')}`, kindsFrom, [])
    .offering('--kind', AttentionKind.options)
    .option('--run <run>', 'about this run')
    .option('--device <id>', 'about this device')
    .option('--all', 'also what is settled')
    .option('--before <id>', 'older than this one: the next page')
    .option('--limit <n>', 'at most this many', wholeFrom(1, LIMIT_MAX), 50)
    .option(...WATCHED)
    .does(async (context, words: AttentionWords) => (await runner()).listAttention(context, words));
  define(inbox, 'take', 'take something on: the others see who looks at it', [
    'orrery attention take 4kq7w2m9x0ab',
    'orrery attention take 4kq7 9xw2',
  ])
    .argument('<entry...>', 'as listed, or how it begins')
    .changing()
    .option(...TRYING)
    .does(async (context, ids: string[], { timeout }: { timeout: number }) =>
      (await runner()).takeEntries(context, ids, timeout * 1_000),
    );
  define(inbox, 'settle', 'say that something is settled: it comes back only when it happens anew', [
    'orrery attention settle 4kq7w2m9x0ab --reason "the disk was replaced"',
  ])
    .argument('<entry...>', 'as listed, or how it begins')
    .requiredOption('--reason <text>', 'why: recorded with it')
    .changing()
    .option(...TRYING)
    .does(async (context, ids: string[], { reason, timeout }: { reason: string; timeout: number }) =>
      (await runner()).settleEntries(context, ids, { reason, timeoutMs: timeout * 1_000 }),
    );
}

function kindsFrom(text: string, before: readonly AttentionKind[]): AttentionKind[] {
  return commaList(text, before).map((word) => {
    const kind = AttentionKind.options.find((one) => one === word.toLowerCase());
    if (kind !== undefined) return kind;
    const meant = meantName(word, AttentionKind.options);
    const mean = meant === undefined ? '' : ` Did you mean ${meant}?`;
    throw new InvalidArgumentError(`There is ${AttentionKind.options.join(', ')}.${mean}`);
  });
}
