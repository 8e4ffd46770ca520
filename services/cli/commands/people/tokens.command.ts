// The words of `orrery tokens`.
import { Role } from '#proto';
import { commaList, define, wholeFrom, type CliCommand } from '../../terminal/index.js';
import type { IssueOptions } from './tokens.runner.js';

const DAYS_MAX = 3_650;
const DAYS = 90;

const runner = () => import('./tokens.runner.js');

export function defineTokens(program: CliCommand): void {
  const tokens = define(program, 'tokens', 'named tokens for the console: who has one, for what, until when', [
    'orrery tokens',
    'orrery tokens issue anna --label laptop',
  ]).does(async (context) => (await runner()).listTokens(context, undefined));
  define(tokens, 'list', 'of everybody, or of one; with their last use', ['orrery tokens list anna --json'])
    .argument('[id]', 'of a person or system')
    .does(async (context, id: string | undefined) => (await runner()).listTokens(context, id));
  define(tokens, 'issue', 'make one; it is shown once, and nobody can show it again', [
    'orrery tokens issue anna --label laptop',
    'orrery tokens issue ci --scopes requester --days 30 --token-file ci.token',
  ])
    .argument('<id>', 'of a person or system')
    .option('--scopes <a,b>', 'for no more than these roles; all that he has when absent', commaList, [])
    .offering('--scopes', Role.options)
    .option('--label <text>', 'for people', '')
    .option('--days <n>', 'how long it is good', wholeFrom(1, DAYS_MAX), DAYS)
    .option('--no-expiry', 'until it is revoked')
    .option('--token-file <file>', 'write it there instead of printing it')
    .changing()
    .does(async (context, id: string, options: IssueOptions) => (await runner()).issueToken(context, id, options));
  define(tokens, 'revoke', 'end tokens at once', ['orrery tokens revoke 01JD…'])
    .argument('<token...>', 'ids, as listed')
    .changing()
    .does(async (context, ids: string[]) => (await runner()).revokeNamedTokens(context, ids));
}
