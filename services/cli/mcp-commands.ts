// The words with which a person lets an assistant look at a run and change it.
import type { Command } from 'commander';
import { DEFAULTS, LIMITS } from '#proto';
import { define, wholeFrom, type Run } from './command-definition.js';

const MINUTE_MS = 60_000;

const runner = () => import('./commands/mcp.runner.js');
const READ_ONLY = ['--read-only', 'it may look at the run and change nothing'] as const;

const accessOf = ({ readOnly = false }: { readOnly?: boolean }) => (readOnly ? 'read' : 'edit');

/** `orrery mcp` and what stands below it. */
export function defineMcp(program: Command, run: Run): void {
  const mcp = define(program, 'mcp', 'let an assistant see a run and change its tasks (Model Context Protocol)', [
    'orrery mcp serve 0k3j…',
    'orrery mcp token 0k3j… --read-only --minutes 30',
  ]);
  define(mcp, 'serve', 'serve one run over standard input and output, with your key; ends when the input ends', [
    'orrery mcp serve 0k3j…',
    'orrery mcp serve 0k3j… --read-only',
    '{ "command": "orrery", "args": ["mcp", "serve", "0k3j…"] }   in the settings of the assistant',
  ])
    .argument('<run>')
    .option(...READ_ONLY)
    .action((id: string, options: { readOnly?: boolean }, command: Command) =>
      run(command, async (context) => (await runner()).serveMcp(context, id, accessOf(options))),
    );
  define(mcp, 'token', 'print the address of a run and a token for it: whoever has the token acts in your name', [
    'orrery mcp token 0k3j…',
    'orrery mcp token 0k3j… --read-only --minutes 30 --json',
  ])
    .argument('<run>')
    .option(...READ_ONLY)
    .option(
      '--minutes <n>',
      'how long it is good',
      wholeFrom(1, LIMITS.editGrantMsMax / MINUTE_MS),
      DEFAULTS.editGrantMs / MINUTE_MS,
    )
    .action((id: string, options: { readOnly?: boolean; minutes: number }, command: Command) =>
      run(command, async (context) =>
        (await runner()).printToken(context, id, { access: accessOf(options), minutes: options.minutes }),
      ),
    );
}
