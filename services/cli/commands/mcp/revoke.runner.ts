import { decodeEditGrant, grantIdOf, isSignedGrant } from '#libs/keys';
import { query } from '#libs/messaging';
import { RunId, Sha256, type GrantSelection, type RevokedGrants } from '#proto';
import { withBus, withSignedBus } from '../../bus/index.js';
import { saidBy, badInput, type ExitCode, type CliContext, tell, tellTable } from '../../terminal/index.js';
import { readRequestFile } from '../../files/index.js';
import { isKnownRun, unknownRun } from '../../sources/index.js';

export interface TokensToRevoke {
  /** A token, the id of one, or `-` for either on standard input. */
  readonly token?: string | undefined;
  /** All that are signed with one's own key for this run. */
  readonly run?: string | undefined;
  /** All that are signed with one's own key. */
  readonly all?: boolean | undefined;
  readonly reason?: string | undefined;
}

/** Tokens count no more. What was done with them stays, and a token itself goes nowhere: its id is enough. */
export async function revokeTokens(context: CliContext, tokens: TokensToRevoke): Promise<ExitCode> {
  const grants = await selected(tokens);
  return withSignedBus(context, async (nc) => {
    // A slip of the pen would look like a success.
    if (grants.kind === 'run' && !(await isKnownRun(nc, grants.runId))) throw unknownRun(grants.runId);
    const body = { grants, ...(tokens.reason === undefined ? {} : { reason: tokens.reason }) };
    const { changed } = await query(nc, 'registry', 'revoke-grants', body);
    return tell(context, { changed, revoked: grants }, doneText(grants, changed));
  });
}

/** The revocations by which a token could still be meant. Tokens themselves are in no list: they are signed without a service. */
export async function listRevoked(context: CliContext): Promise<ExitCode> {
  const { revoked } = await withBus(context, (nc) => query(nc, 'registry', 'revoked-grants', {}));
  return tellTable(context, {
    json: { revoked },
    rows: revoked,
    nothing: 'No token was revoked within a day; older ones have ended by themselves.',
    columns: [
      { title: 'TOKENS', value: ({ grants }) => whatText(grants) },
      { title: 'REVOKED', value: ({ revokedAt }) => revokedAt, time: true },
      { title: 'BY', value: saidBy },
    ],
  });
}

async function selected({ token, run, all }: TokensToRevoke): Promise<GrantSelection> {
  const ways = [token !== undefined, run !== undefined, all].filter(Boolean).length;
  if (ways !== 1) throw badInput('Name a token or its id, or say --run <run> or --all for those that you have signed.');
  if (token !== undefined) {
    const given = token === '-' ? await readRequestFile('-') : token;
    return { kind: 'grant', grantId: grantIdFrom(given.trim()) };
  }
  if (run === undefined) return { kind: 'all' };
  // What was typed is not said back here and below: it may be a token.
  const runId = RunId.safeParse(run);
  if (!runId.success) throw badInput('--run: a run id is needed; it has 26 letters and digits.');
  return { kind: 'run', runId: runId.data };
}

/** A token that is not whole would have another id, and revoking that would end nothing. */
function grantIdFrom(text: string): Sha256 {
  if (Sha256.safeParse(text).success) return text;
  const grant = decodeEditGrant(text);
  if (grant === undefined) {
    throw badInput(
      'This is neither a token of "orrery mcp token" nor the id of one, 64 digits and letters from a to f.',
    );
  }
  if (!isSignedGrant(grant)) throw badInput('The token does not fit its key: it was changed, or is not whole.');
  return grantIdOf(grant);
}

function doneText(grants: GrantSelection, changed: boolean): string {
  switch (grants.kind) {
    case 'grant':
      return `Token ${grants.grantId} ${changed ? 'is revoked: whoever has it is refused' : 'was revoked already'}.`;
    case 'run':
      return `Every token for run ${grants.runId} that you have signed until now is revoked.`;
    case 'all':
      return 'Every token that you have signed until now is revoked.';
    default:
      return grants satisfies never;
  }
}

function whatText(grants: RevokedGrants['grants']): string {
  switch (grants.kind) {
    case 'grant':
      return grants.grantId;
    case 'run':
      return `own ones for run ${grants.runId} until ${grants.signedUntil}`;
    case 'all':
      return `own ones until ${grants.signedUntil}`;
    default:
      return grants satisfies never;
  }
}
