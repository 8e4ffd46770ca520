import { readFile } from 'node:fs/promises';
import { fromSeed } from '@nats-io/nkeys';
import { connect, nkeyAuthenticator, TimeoutError, type NatsConnection } from '@nats-io/transport-node';
import { inboxOf } from '#libs/keys';

const DIAL_TIMEOUT_MS = 5_000;
const DIALS_MAX = 3;
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
  /** How long one try to connect may take, in milliseconds; 5 s when absent. */
  readonly dialTimeoutMs?: number;
}

/** The bus cannot be reached or does not let us in: one sentence for people. */
export class BusError extends Error {
  override readonly name = 'BusError';
}

/** Connects; from then on it reconnects for ever, by itself. */
export async function connectBus(config: BusConfig): Promise<NatsConnection> {
  const { url, seedFile } = config;
  const seed = seedFile === undefined ? undefined : await readSeed(seedFile);
  for (let dials = 1; ; dials++) {
    try {
      return await dial(config, seed);
    } catch (cause) {
      // A connection that ends before its first answer is only noticed by the time: a busy server is given another chance.
      if (cause instanceof TimeoutError && dials < DIALS_MAX) continue;
      throw new BusError(`NATS at ${withoutSecrets(url)} cannot be reached or refused the credentials.`, { cause });
    }
  }
}

function dial(config: BusConfig, seed: Uint8Array | undefined): Promise<NatsConnection> {
  const { url, name, waitForServer = false, dialTimeoutMs = DIAL_TIMEOUT_MS } = config;
  return connect({
    servers: url,
    name,
    inboxPrefix: config.inboxPrefix ?? ownInbox(config, seed),
    timeout: dialTimeoutMs,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_WAIT_MS,
    reconnectJitter: RECONNECT_JITTER_MS,
    waitOnFirstConnect: waitForServer,
    ignoreAuthErrorAbort: true,
    pingInterval: PING_INTERVAL_MS,
    maxPingOut: PINGS_OUT_MAX,
    // A stack trace taken per request costs more than the request does here.
    noAsyncTraces: true,
    ...(seed === undefined ? {} : { authenticator: nkeyAuthenticator(seed) }),
  });
}

function ownInbox({ seedFile = '' }: BusConfig, seed: Uint8Array | undefined): string {
  if (seed === undefined) return '_INBOX';
  try {
    return inboxOf(fromSeed(seed).getPublicKey());
  } catch (cause) {
    throw new BusError(`The file ${seedFile} holds no seed of a user of NATS.`, { cause });
  }
}

async function readSeed(file: string): Promise<Uint8Array> {
  try {
    return new TextEncoder().encode((await readFile(file, 'utf8')).trim());
  } catch (cause) {
    throw new BusError(`The NATS seed file ${file} cannot be read.`, { cause });
  }
}

function withoutSecrets(url: string): string {
  return url.replace(/\/\/[^@/]*@/u, '//');
}
