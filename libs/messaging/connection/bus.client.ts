import { sign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import {
  AuthorizationError,
  connect,
  TimeoutError,
  UserAuthenticationExpiredError,
  type Authenticator,
  type NatsConnection,
} from '@nats-io/transport-node';
import { inboxOf, signerOf, type Signer } from '#libs/keys';
import { greetingOf, type Greeting } from './greeting.adapter.js';

const CONNECT_TIMEOUT_MS = 15_000;
const DIALS_MAX = 3;
const REFUSED_WAIT_MS = 200;
const RECONNECT_WAIT_MS = 100;
const RECONNECT_JITTER_MS = 100;
const PING_INTERVAL_MS = 5_000;
const PINGS_OUT_MAX = 2;

export interface BusConfig {
  readonly url: string;
  /** File with the nkey seed of this user (0600); none for a server without authentication. */
  readonly seedFile?: string | undefined;
  /** Shown in the server's connection list. */
  readonly name: string;
  /** Inboxes of this user only: `_INBOX_<user>`; absent: those of its key, for who does not know the name of its user. */
  readonly inboxPrefix?: string;
  /** Keep trying when the server is not there yet; otherwise the first failure is thrown. Default false. */
  readonly waitForServer?: boolean;
  /** How long the first connection may take, in milliseconds: three tries share it. 15 s when absent. */
  readonly connectTimeoutMs?: number;
}

/** The bus cannot be reached or does not let us in: one sentence for people. */
export class BusError extends Error {
  override readonly name = 'BusError';
  /** `away`: nobody answered. `refused`: the server knows no such user. `key`: ours cannot be used at all. */
  readonly kind: 'away' | 'refused' | 'key';
  constructor(kind: BusError['kind'], message: string, options: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/**
 * Connects; from then on it reconnects for ever, by itself.
 * @throws BusError which says how far it came.
 */
export async function connectBus(config: BusConfig): Promise<NatsConnection> {
  const { seedFile } = config;
  const signer = seedFile === undefined ? undefined : await signerOfFile(seedFile);
  for (let dials = 1; ; dials++) {
    try {
      return await dial(config, signer);
    } catch (cause) {
      // A connection that ends before its first answer is only noticed by the time: a busy server is given another chance.
      if (cause instanceof TimeoutError && dials < DIALS_MAX) continue;
      // So does a server that reads its users anew: for a moment it refuses those that it knows.
      if (isRefusal(cause) && dials < DIALS_MAX) {
        await wait(REFUSED_WAIT_MS);
        continue;
      }
      throw isRefusal(cause) ? refusedBus(config, cause) : new BusError('away', await whyNot(config, cause), { cause });
    }
  }
}

const SILENT: Readonly<Record<Greeting, string>> = {
  unreachable: 'cannot be reached: no connection',
  silent: 'took the connection and said nothing',
  greets: 'greeted us and then did not answer',
};

/** Whether the server said that it does not let us in. */
export const isRefusal = (cause: unknown): boolean =>
  cause instanceof AuthorizationError || cause instanceof UserAuthenticationExpiredError;

/** The error of a server that refuses us, whenever it does. */
export function refusedBus({ url, seedFile }: Pick<BusConfig, 'url' | 'seedFile'>, cause?: unknown): BusError {
  const why = seedFile === undefined ? 'lets nobody in without a key' : `refused the key in ${seedFile}`;
  return new BusError('refused', `NATS at ${withoutSecrets(url)} ${why}.`, { cause });
}

/** One sentence: which address was tried, and what was answered there. */
async function whyNot({ url, connectTimeoutMs = CONNECT_TIMEOUT_MS }: BusConfig, cause: unknown): Promise<string> {
  const where = `NATS at ${withoutSecrets(url)}`;
  if (cause instanceof TimeoutError)
    return `${where} ${SILENT[await greetingOf(url)]} within ${connectTimeoutMs / 1_000} s.`;
  return `${where} cannot be reached: ${cause instanceof Error ? cause.message : 'the connection ended'}.`;
}

function dial(config: BusConfig, signer: Signer | undefined): Promise<NatsConnection> {
  const { url, name, waitForServer = false, connectTimeoutMs = CONNECT_TIMEOUT_MS } = config;
  return connect({
    servers: url,
    name,
    inboxPrefix: config.inboxPrefix ?? (signer === undefined ? '_INBOX' : inboxOf(signer.key)),
    timeout: connectTimeoutMs / DIALS_MAX,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_WAIT_MS,
    reconnectJitter: RECONNECT_JITTER_MS,
    waitOnFirstConnect: waitForServer,
    ignoreAuthErrorAbort: true,
    pingInterval: PING_INTERVAL_MS,
    maxPingOut: PINGS_OUT_MAX,
    // A stack trace taken per request costs more than the request does here.
    noAsyncTraces: true,
    ...(signer === undefined ? {} : { authenticator: withKeyOf(signer) }),
  });
}

/** Answers the server's challenge. */
function withKeyOf({ key, privateKey }: Signer): Authenticator {
  return (nonce = '') => ({ nkey: key, sig: sign(null, Buffer.from(nonce), privateKey).toString('base64url') });
}

async function signerOfFile(file: string): Promise<Signer> {
  const seed = await readSeed(file);
  try {
    return signerOf(seed);
  } catch (cause) {
    throw new BusError('key', `The file ${file} holds no seed of a user of NATS.`, { cause });
  }
}

async function readSeed(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (cause) {
    throw new BusError('key', `The NATS seed file ${file} cannot be read.`, { cause });
  }
}

function withoutSecrets(url: string): string {
  return url.replace(/\/\/[^@/]*@/u, '//');
}
