import { chmod, writeFile } from 'node:fs/promises';
import { ulid } from 'ulid';
import { newToken, tokenHash } from '#libs/keys';
import { Role } from '#proto';
import { withSignedBus, askRegistry, orderOfRegistry } from '../../bus/index.js';
import {
  badInput,
  cleanLine,
  failure,
  tell,
  tellTable,
  type CliContext,
  type ExitCode,
  momentText,
  dayText,
} from '../../terminal/index.js';

export interface IssueOptions {
  readonly scopes: readonly string[];
  readonly label: string;
  readonly days: number;
  /** False: until it is revoked. */
  readonly expiry: boolean;
  readonly tokenFile?: string | undefined;
}

const DAY_MS = 86_400_000;
const PRIVATE_FILE = 0o600;
/** A reader sees what it is. */
const PREFIX = 'ort_';

export async function listTokens(context: CliContext, id: string | undefined): Promise<ExitCode> {
  const asked = id === undefined ? {} : { actorId: id };
  const { tokens } = await withSignedBus(context, (nc) => askRegistry({ nc, now: context.now }, 'tokens', asked));
  return tellTable(context, {
    json: { tokens },
    rows: tokens,
    nothing: 'There are no tokens; see: orrery tokens issue --help',
    columns: [
      { title: 'TOKEN', value: ({ tokenId }) => tokenId },
      { title: 'OF', value: ({ actorId }) => actorId },
      { title: 'LABEL', value: ({ label }) => cleanLine(label) || '-' },
      { title: 'UNTIL', value: ({ expiresAt, revokedAt }) => (revokedAt === null ? day(expiresAt) : 'revoked') },
      { title: 'USED', value: ({ lastUsedAt }) => day(lastUsedAt) },
      { title: 'SCOPES', value: ({ scopes }) => (scopes.length === Role.options.length ? 'all' : scopes.join(' ')) },
    ],
  });
}

/** The secret is made here and shown once; only its SHA-256 leaves this process. */
export async function issueToken(context: CliContext, id: string, options: IssueOptions): Promise<ExitCode> {
  const { label, days, expiry, tokenFile } = options;
  const unknown = options.scopes.find((word) => !Role.safeParse(word).success);
  if (unknown !== undefined) {
    throw badInput(`--scopes: "${cleanLine(unknown)}" is no role; there are ${Role.options.join(', ')}.`);
  }
  const scopes =
    options.scopes.length === 0 ? [...Role.options] : Role.options.filter((role) => options.scopes.includes(role));
  const secret = `${PREFIX}${newToken()}`;
  const tokenId = ulid(context.now());
  const expiresAt = expiry ? new Date(context.now() + days * DAY_MS).toISOString() : null;
  // Written before it counts: a file that cannot be written must not leave a token that nobody has.
  if (tokenFile !== undefined) await writeNew(tokenFile, secret);
  await withSignedBus(context, (nc) =>
    orderOfRegistry({ nc, now: context.now }, 'token-issue', {
      actorId: id,
      tokenId,
      tokenHash: tokenHash(secret),
      scopes,
      label,
      expiresAt,
    }),
  );
  const until = expiresAt === null ? 'until it is revoked' : `until ${momentText(expiresAt)}`;
  if (context.json)
    return tell(context, {
      tokenId,
      actorId: id,
      scopes,
      expiresAt,
      ...(tokenFile === undefined ? { token: secret } : { tokenFile }),
    });
  context.terminal.err(
    `Token ${tokenId} of ${cleanLine(id)}, good ${until}; ${tokenFile === undefined ? 'it is shown only now:' : `it is in ${tokenFile}`}`,
  );
  return tell(context, {}, tokenFile === undefined ? secret : undefined);
}

export async function revokeNamedTokens(context: CliContext, ids: readonly string[]): Promise<ExitCode> {
  return withSignedBus(context, async (nc) => {
    const changes: { tokenId: string; changed: boolean }[] = [];
    for (const tokenId of new Set(ids)) {
      const changed = await orderOfRegistry({ nc, now: context.now }, 'token-revoke', { tokenId });
      changes.push({ tokenId, changed });
      if (!context.json) context.terminal.out(`${tokenId} ${changed ? 'counts no more' : 'was revoked already'}`);
    }
    return tell(context, { changes });
  });
}

/** Never over a file that exists: it could be somebody else's token. */
async function writeNew(file: string, secret: string): Promise<void> {
  try {
    await writeFile(file, `${secret}\n`, { mode: PRIVATE_FILE, flag: 'wx' });
    await chmod(file, PRIVATE_FILE);
  } catch (error) {
    throw failure(`The token cannot be written to ${file}; none was made.`, error);
  }
}

const day = (instant: string | null): string => (instant === null ? '-' : dayText(instant));
