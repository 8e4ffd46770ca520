import { expect, it } from '@jest/globals';
import { EXIT } from './exit-codes.js';
import { CliCommand, define } from './command-definition.js';
import type { CliContext } from './terminal.js';

it.each([
  ['before the command', ['--json', 'runs', '--limit', '3']],
  ['behind it', ['runs', '--limit', '3', '--json']],
])('JSON that is asked for %s is in the context, and no word that the command was told', async (_, typed) => {
  const told: unknown[] = [];
  const run = async (command: CliCommand, act: (context: CliContext) => Promise<unknown>): Promise<void> => {
    told.push(command.optsWithGlobals()['json']);
    await act({} as CliContext);
  };
  const program = new CliCommand(run).option('--json').enablePositionalOptions();
  define(program, 'runs', 'runs', [])
    .option('--limit <count>')
    .does(async (_context, ...words: unknown[]) => {
      told.push(words[0]);
      return EXIT.ok;
    });
  await program.parseAsync(typed, { from: 'user' });
  expect(told).toEqual([true, { limit: '3' }]);
});
