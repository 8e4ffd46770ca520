// The device's end of AIP (paper section 7.1, L5), for ever:
//
//   waiting ──backoff──► dialling ──101──► registering ──confirmed──► ready ──closed──► waiting ...
//                            └── refused: the next server ──┴── silent, refused ─────────────▲
import { setTimeout as sleep } from 'node:timers/promises';
import { AIP_CLOSE, AIP_LIMITS, type ClientMessage } from '#proto';
import {
  FIRST_DIAL,
  nextDial,
  RECONNECT,
  type BackoffPolicy,
  type DialEnd,
  type Transport,
  connectWs,
  HandshakeRefused,
  type ConnectOptions,
} from '../transport/index.js';
import type { ServerFacts } from './device-link.js';
import { ServerConnection, type ConnectionEnd, type LinkedDevice, type FrameFact } from './server-connection.js';

/** Where a server is: without what must not be read by people, which is the query. */
export type ServerAddress = string;

/** The life of the link as facts for a log. */
export type LinkFact =
  | FrameFact
  | { readonly fact: 'registered'; readonly address: ServerAddress; readonly server: ServerFacts }
  | {
      readonly fact: 'not-connected';
      readonly address: ServerAddress;
      /** HTTP status of a refused handshake; null when there was none. */
      readonly status: number | null;
      readonly reason: string;
    }
  | (ConnectionEnd & { readonly fact: 'disconnected'; readonly address: ServerAddress })
  | { readonly fact: 'waiting'; readonly waitMs: number; readonly failures: number };

/** The servers know this device no more: thrown by `Credentials`, for the longest wait between two tries. */
export class Unwelcome extends Error {
  override readonly name = 'Unwelcome';
}

/** Port: what the device proves itself with. */
export interface Credentials {
  /** Asked for at every try, so that a renewed one counts at once. Throws while there is none; Unwelcome when a person has to help. */
  credential(): Promise<string>;
  /** The server did not believe the last one (HTTP 401). True: there will be another one, to be tried at once. */
  disbelieved(): boolean;
}

export interface DeviceClientEndpointOptions {
  /** WebSocket addresses, one at least: the next one is tried when one fails. */
  readonly urls: readonly string[];
  readonly credentials: Credentials;
  /** `query`: as `?token=`, for servers of UFO, which take it nowhere else. Ours want the header: a URL ends up in logs. */
  readonly credentialIn?: 'header' | 'query';
  /** Its methods are called as they are, without `this`. */
  readonly device: LinkedDevice;
  /** Milliseconds that never jump. */
  readonly monotonicMs: () => number;
  /** In [0, 1). */
  readonly random: () => number;
  readonly onFact: (fact: LinkFact) => void;
  /** Opens the WebSocket; default `connectWs`. */
  readonly connect?: (options: ConnectOptions) => Promise<Transport>;
  readonly heartbeatMs?: number;
  readonly policy?: BackoffPolicy;
}

const HEARTBEAT_MS = 20_000;
const TICK_MS = 100;
const [UNAUTHORIZED, FORBIDDEN] = [401, 403];
/** Ends that a new try with the same credential would only meet again. */
const UNWELCOME: ReadonlySet<number> = new Set([AIP_CLOSE.replaced, AIP_CLOSE.revoked]);

/** Keeps one registered connection to one of the servers and tries again for ever when there is none. */
export class DeviceClientEndpoint {
  readonly #options: DeviceClientEndpointOptions;
  #connection: ServerConnection | undefined;
  #restarting = false;

  constructor(options: DeviceClientEndpointOptions) {
    if (options.urls.length === 0) throw new RangeError('a device client needs the address of a server');
    this.#options = options;
  }

  /** Runs until the signal; never throws for what the network or a server does. */
  async run(signal: AbortSignal): Promise<void> {
    const { urls, policy = RECONNECT, random, onFact } = this.#options;
    for (let at = FIRST_DIAL; !signal.aborted;) {
      const end = await this.#connectOnce(urls[at.server] ?? '', signal);
      if (signal.aborted) return;
      const next = nextDial({ policy, servers: urls.length, random: random() }, at, end);
      at = next.at;
      if (next.waitMs === 0) continue;
      onFact({ fact: 'waiting', waitMs: next.waitMs, failures: at.failures });
      await sleep(next.waitMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Dropped without a connection: everything that matters is said again on the next one. Kept until that is ready. */
  send(message: ClientMessage, cargo?: string): void {
    this.#connection?.send(message, cargo);
  }

  /** Live output of a command: false when it was left out, because nobody can take it now. */
  sendOutput(message: ClientMessage): boolean {
    return this.#connection?.sendOutput(message) === true;
  }

  /** The device has a new result. */
  sendResults(): void {
    this.#connection?.sendResults();
  }

  /** Bytes sent under this name and not acknowledged by the server. */
  unackedBytes(cargo: string): number {
    return this.#connection?.unackedBytes(cargo) ?? 0;
  }

  /** What REGISTER says has changed: the server learns it from a new connection. */
  registerAgain(why: string): void {
    if (this.#connection === undefined) return;
    this.#restarting = true;
    this.#connection.close(AIP_CLOSE.normal, why);
  }

  async #connectOnce(url: string, signal: AbortSignal): Promise<DialEnd> {
    const { onFact, credentials } = this.#options;
    const address = addressOf(url);
    this.#restarting = false;
    try {
      const transport = await this.#dial(url, signal);
      const end = await this.#serve(transport, address, signal);
      onFact({ fact: 'disconnected', address, ...end });
      const why = UNWELCOME.has(end.code) ? 'unwelcome' : this.#restarting ? 'own' : 'failed';
      return { uptimeMs: end.uptimeMs, why };
    } catch (error) {
      const status = error instanceof HandshakeRefused ? error.status : null;
      if (!signal.aborted) onFact({ fact: 'not-connected', address, status, reason: reasonOf(error, status) });
      // One more try, when what was not believed was only too old.
      if (status === UNAUTHORIZED && credentials.disbelieved()) return { uptimeMs: 0, why: 'renewed' };
      return { uptimeMs: 0, why: error instanceof Unwelcome ? 'unwelcome' : 'failed' };
    }
  }

  async #dial(url: string, signal: AbortSignal): Promise<Transport> {
    const { credentials, credentialIn = 'header', monotonicMs, connect = connectWs } = this.#options;
    const token = await credentials.credential();
    const target = credentialIn === 'query' ? { url: withToken(url, token) } : { url, token };
    // A foreign server may send as much as our gateway takes from foreign clients.
    const frameBytesMax = AIP_LIMITS.foreignFrameBytesMax;
    return connect({ ...target, clock: { now: monotonicMs }, frameBytesMax, signal });
  }

  async #serve(transport: Transport, address: ServerAddress, signal: AbortSignal): Promise<ConnectionEnd> {
    const { device, monotonicMs, heartbeatMs = HEARTBEAT_MS, onFact } = this.#options;
    const { promise: ended, resolve: onEnd } = Promise.withResolvers<ConnectionEnd>();
    const onReady = (server: ServerFacts): void => {
      onFact({ fact: 'registered', address, server });
      device.onReady(server);
    };
    const clock = { now: monotonicMs };
    const connection = new ServerConnection({
      transport,
      device: { ...device, onReady },
      clock,
      heartbeatMs,
      onFact,
      onEnd,
    });
    const goodbye = (): void => connection.close(AIP_CLOSE.goingAway, 'the device client stops');
    signal.addEventListener('abort', goodbye, { once: true });
    this.#connection = connection;
    const ticking = setInterval(() => connection.tick(), TICK_MS);
    connection.start();
    // It came while the connection was made, and is not said again.
    if (signal.aborted) goodbye();
    try {
      return await ended;
    } finally {
      clearInterval(ticking);
      this.#connection = undefined;
      signal.removeEventListener('abort', goodbye);
    }
  }
}

function withToken(url: string, token: string): string {
  const whole = new URL(url);
  whole.searchParams.set('token', token);
  return whole.href;
}

function addressOf(url: string): ServerAddress {
  const { origin, host, protocol, pathname } = new URL(url);
  // Where ws: is no special scheme its origin is "null".
  return `${origin === 'null' ? `${protocol}//${host}` : origin}${pathname}`;
}

function reasonOf(error: unknown, status: number | null): string {
  if (status === UNAUTHORIZED || status === FORBIDDEN) return 'the server does not accept the credential';
  if (!(error instanceof Error)) return String(error);
  // Both addresses of "localhost" refused: the aggregate itself says nothing.
  if (error.message !== '') return error.message;
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
