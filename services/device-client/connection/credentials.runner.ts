import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { delayMs, RECONNECT } from '#libs/aip';
import { makeDeviceSecret, makeJoinAssertion, tokenHash } from '#libs/keys';
import {
  KeyCredentials,
  staticToken,
  type CredentialSource,
  readIdentity,
  writeIdentity,
  IdentityClient,
  type ClientTls,
  type IdentityAnswer,
  wayIn,
  type JoinedDevice,
  type KeptIdentity,
  type WayIn,
} from '../identity/index.js';
import { type TokenSource } from '../settings/index.js';
import { InputError } from '../faults/index.js';

export interface CredentialsOptions {
  readonly urls: readonly string[];
  readonly tls: () => Promise<ClientTls>;
  readonly dataDir: string;
  readonly token: TokenSource;
  readonly now: () => number;
  readonly monotonicMs: () => number;
  readonly random: () => number;
  readonly logger: Logger;
  /** Ends everything that waits for a server. */
  readonly signal: AbortSignal;
}

const JOIN_TOKEN_PREFIX = 'join-';

/**
 * Finds out what this device proves itself with: a static token, the key that it has joined with, or a join token, which is
 * used up here. Resolves when there is something to connect with; throws InputError when a person has to do something.
 */
export async function openCredentials(options: CredentialsOptions): Promise<CredentialSource> {
  const { dataDir, token, urls, tls, now, signal } = options;
  const kept = await readIdentity(dataDir);
  const given = await token.read(kept.joined === null);
  if (given !== undefined && !given.startsWith(JOIN_TOKEN_PREFIX)) return staticToken(() => token.again());
  const way = wayIn(kept, given === undefined ? undefined : tokenHash(given));
  const ended = new AbortController();
  const client = new IdentityClient({ urls, tls, now, signal: AbortSignal.any([signal, ended.signal]) });
  if (way.kind === 'join' && given !== undefined) return join(options, { client, ended, kept, way, token: given });
  if (way.kind === 'key') return withKey(options, { client, ended, joined: way.joined, first: undefined });
  throw new InputError('This device has not joined yet: give a token with --token-file, or on standard input.');
}

type Issued = Extract<IdentityAnswer, { kind: 'issued' }>;

interface Asking {
  readonly client: IdentityClient;
  readonly ended: AbortController;
}

interface Joining extends Asking {
  readonly kept: KeptIdentity;
  readonly way: Extract<WayIn, { kind: 'join' }>;
  readonly token: string;
}

async function join(options: CredentialsOptions, joining: Joining): Promise<CredentialSource> {
  const { dataDir, logger } = options;
  const { client, ended, kept, way, token } = joining;
  const secret = way.secret ?? makeDeviceSecret();
  // Before anybody hears of the key: who joined and forgot it could never come back.
  await writeIdentity(dataDir, { ...kept, joining: { secret, tokenHash: way.tokenHash } });
  const body = async (now: number) => ({ token, assertion: await makeJoinAssertion(secret, { token, now }) });
  const first = await untilDecided(options, () => client.ask({ path: 'join', body }));
  const joined = { deviceId: first.deviceId, secret, url: first.url, tokenHash: way.tokenHash };
  await writeIdentity(dataDir, { version: 1, joined, joining: null });
  logger.info({ deviceId: first.deviceId, url: first.url }, 'joined');
  return withKey(options, { client, ended, joined, first });
}

function withKey(
  { monotonicMs, random, logger }: CredentialsOptions,
  { client, ended, joined, first }: Asking & { readonly joined: JoinedDevice; readonly first: Issued | undefined },
): CredentialSource {
  const { deviceId, secret } = joined;
  return new KeyCredentials({ client, ended, deviceId, secret, first, monotonicMs, random, logger });
}

/** The same question again, as long as nobody can answer it: with the same key and token it is one question. */
async function untilDecided(
  { random, logger, signal }: CredentialsOptions,
  ask: () => Promise<IdentityAnswer>,
): Promise<Issued> {
  for (let failures = 1; ; failures++) {
    signal.throwIfAborted();
    const answer = await ask();
    if (answer.kind === 'issued') return answer;
    if (answer.kind === 'refused') throw new InputError(whatToDo(answer.code, answer.message));
    if (answer.kind === 'foreign') {
      throw new InputError(`No server given with --url takes join tokens (${answer.reason}); compare --url.`);
    }
    signal.throwIfAborted();
    const waitMs = Math.max(answer.waitMs, delayMs(RECONNECT, failures, random()));
    logger.warn({ reason: answer.reason, waitMs }, 'not joined yet, will be tried again');
    await sleep(waitMs, undefined, { signal });
  }
}

const ANOTHER = 'have the device enrolled again (orrery devices enroll --id <its name>) and join with the new token';

/** One sentence for a person, from what the server says. */
function whatToDo(code: string, message: string): string {
  switch (code) {
    case 'TOKEN_USED':
      return `Another client has used this join token already, and it works once: ${ANOTHER}.`;
    case 'TOKEN_EXPIRED':
      return `This join token has expired: ${ANOTHER}.`;
    case 'TOKEN_UNKNOWN':
      return `The server does not know this join token: check that it is whole and for this server, or ${ANOTHER}.`;
    default:
      return `The server refuses to let this device join: ${message}`;
  }
}
