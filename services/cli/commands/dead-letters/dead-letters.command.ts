// The words of `orrery dlq`.
import { define, wholeFrom, type CliCommand } from '../../terminal/index.js';

export function defineDeadLetters(program: CliCommand): void {
  const dlq = define(program, 'dlq', 'messages that no service could handle', ['orrery dlq ls', 'orrery dlq show 3']);
  define(dlq, 'ls', 'list them: one line of each message, with all services that could not handle it', [
    'orrery dlq ls --json',
  ]).does(async (context) => (await import('./dead-letters.runner.js')).listDeadLetters(context));
  define(dlq, 'show', 'one with its payload', ['orrery dlq show 3'])
    .argument('<id>', 'as listed', wholeFrom(1))
    .does(async (context, id: number) => (await import('./dead-letters.runner.js')).showDeadLetter(context, id));
  define(dlq, 'retry', 'hand its message to the services again', ['orrery dlq retry 3'])
    .argument('<id>', 'as listed', wholeFrom(1))
    .changing()
    .does(async (context, id: number) => (await import('./dead-letters.runner.js')).retryDeadLetter(context, id));
  define(dlq, 'drop', "delete for good, with those of the same message (needs the administrator's key)", [
    'orrery dlq drop 3 4',
  ])
    .argument('<id...>', 'as listed', (text: string, before: number[] | undefined) => [
      ...(before ?? []),
      wholeFrom(1)(text),
    ])
    .changing()
    .does(async (context, ids: number[]) => (await import('./dead-letters.runner.js')).dropDeadLetters(context, ids));
}
