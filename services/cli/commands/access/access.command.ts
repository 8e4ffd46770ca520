// The words of `orrery access`.
import { InvalidArgumentError } from 'commander';
import { AccessKind } from '#proto';
import { define, spanMs, type CliCommand } from '../../terminal/index.js';
import type { AccessWords } from './access.runner.js';

const KINDS = AccessKind.options.map(wordOf);

export function defineAccess(program: CliCommand): void {
  define(program, 'access', 'who read, exported and verified what, who came in, who changed whom (role auditor)', [
    'orrery access --since 30d',
    'orrery access --actor anna --what output-read',
    'orrery access --run 0k3j… --json',
    'orrery access --follow',
  ])
    .option('--since <span>', 'minutes, hours or days: 90m, 12h, 7d', spanMs, spanMs('7d'))
    .option('--actor <id>', 'by this person or system only')
    .option('--run <run>', 'about this run only')
    .option('--what <kind>', `of this kind only: ${KINDS.join(', ')}`, kindFrom)
    .offering('--what', KINDS)
    .option('--follow', 'and what comes, until you stop it')
    .does(async (context, words: AccessWords) => (await import('./access.runner.js')).access(context, words));
}

function kindFrom(text: string): AccessKind {
  const kind = AccessKind.options.find((one) => wordOf(one) === text.toLowerCase());
  if (kind !== undefined) return kind;
  throw new InvalidArgumentError(`There is ${KINDS.join(', ')}.`);
}

function wordOf(kind: AccessKind): string {
  return kind.toLowerCase().replaceAll('_', '-');
}
