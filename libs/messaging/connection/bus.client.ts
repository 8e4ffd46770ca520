import { sign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { connect, TimeoutError, type Authenticator, type NatsConnection } from '@nats-io/transport-node';
import { inboxOf, signerOf, type Signer } from '#libs/keys';

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
  const signer = seedFile === undefined ? undefined : await signerOfFile(seedFile);
  for (let dials = 1; ; dials++) {
    try {
      return await dial(config, signer);
    } catch (cause) {
      // A connection that ends before its first answer is only noticed by the time: a busy server is given another chance.
      if (cause instanceof TimeoutError && dials < DIALS_MAX) continue;
      throw new BusError(`NATS at ${withoutSecrets(url)} cannot be reached or refused the credentials.`, { cause });
    }
  }
}

function dial(config: BusConfig, signer: Signer | undefined): Promise<NatsConnection> {
  const { url, name, waitForServer = false, dialTimeoutMs = DIAL_TIMEOUT_MS } = config;
  return connect({
    servers: url,
    name,
    inboxPrefix: config.inboxPrefix ?? (signer === undefined ? '_INBOX' : inboxOf(signer.key)),
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
    throw new BusError(`The file ${file} holds no seed of a user of NATS.`, { cause });
  }
}

async function readSeed(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (cause) {
    throw new BusError(`The NATS seed file ${file} cannot be read.`, { cause });
  }
}

function withoutSecrets(url: string): string {
  return url.replace(/\/\/[^@/]*@/u, '//');
}
