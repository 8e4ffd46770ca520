// The words with which a person lets an assistant look at a run and change it.
import { DEFAULTS, LIMITS } from '#proto';
import { define, wholeFrom, type CliCommand } from '../../terminal/index.js';
import type { TokensToRevoke } from './revoke.runner.js';

const MINUTE_MS = 60_000;

const runner = () => import('./mcp.runner.js');
const revoker = () => import('./revoke.runner.js');
const READ_ONLY = ['--read-only', 'it may look at the run and change nothing'] as const;

const accessOf = ({ readOnly = false }: { readOnly?: boolean }) => (readOnly ? 'read' : 'edit');

/** `orrery mcp` and what stands below it. */
export function defineMcp(program: CliCommand): void {
  const mcp = define(program, 'mcp', 'let an assistant see a run and change its tasks (Model Context Protocol)', [
    'orrery mcp serve 0k3j…',
    'orrery mcp token 0k3j… --read-only --minutes 30',
  ]);
  const serve = define(
    mcp,
    'serve',
    'serve one run over standard input and output, with your key, until the input ends',
    [
      'orrery mcp serve 0k3j…',
      'orrery mcp serve 0k3j… --read-only',
      '{ "command": "orrery", "args": ["mcp", "serve", "0k3j…"] }   in the settings of the assistant',
    ],
  )
    .forOneRun()
    .argument('<run>')
    .option(...READ_ONLY)
    .does(async (context, id: string, options: { readOnly?: boolean }) =>
      (await runner()).serveMcp(context, id, accessOf(options)),
    );
  // Standard output is the assistant's: there is nothing to print as JSON, and the runner says so.
  serve.options.find(({ long }) => long === '--json')?.hideHelp();
  define(mcp, 'token', 'print the address of a run and a token for it: whoever has the token acts in your name', [
    'orrery mcp token 0k3j…',
    'orrery mcp token 0k3j… --read-only --minutes 30 --json',
  ])
    .forOneRun()
    .argument('<run>')
    .option(...READ_ONLY)
    .option(
      '--minutes <n>',
      'how long it is good',
      wholeFrom(1, LIMITS.editGrantMsMax / MINUTE_MS),
      DEFAULTS.editGrantMs / MINUTE_MS,
    )
    .does(async (context, id: string, options: { readOnly?: boolean; minutes: number }) =>
      (await runner()).printToken(context, id, { access: accessOf(options), minutes: options.minutes }),
    );
  defineRevocations(mcp);
}

function defineRevocations(mcp: CliCommand): void {
  define(mcp, 'revoke', 'end tokens before their time: any single one, or all that you have signed until now', [
    'orrery mcp revoke - < token.txt',
    'orrery mcp revoke 9f86d081…',
    'orrery mcp revoke --run 0k3j… --reason "laptop stolen"',
    'orrery mcp revoke --all',
  ])
    .forOneRun()
    .argument('[token]', 'a token or its id; "-" reads it from standard input, where no list of processes shows it')
    .option('--run <run>', 'all that you have signed for this run')
    .option('--all', 'all that you have signed')
    .option('--reason <text>', 'recorded with it')
    .does(async (context, token: string | undefined, words: TokensToRevoke) =>
      (await revoker()).revokeTokens(context, { ...words, token }),
    );
  define(mcp, 'revoked', 'list the revocations that still matter, and who said so', ['orrery mcp revoked --json']).does(
    async (context) => (await revoker()).listRevoked(context),
  );
}
