// The connection to the server, for ever:
//
//   waiting ──backoff──► dialling ──101──► registering ──heartbeat──► ready ──closed──► waiting ...
//                            └── refused ────────┴── silent, refused ───────────────────────▲
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import {
  connectWs,
  decodeServerMessage,
  delayMs,
  failuresAfter,
  HandshakeRefused,
  RECONNECT,
  type Closed,
  type Transport,
} from '#libs/aip';
import { AIP_CLOSE, AIP_LIMITS, type ClientMessage, type ServerMessage } from '#proto';
import { errorCode } from './error-code.js';
import { heartbeatMessage } from './messages.js';

export interface DeviceLinkOptions {
  readonly url: string;
  /** Asked at every try, so that a renewed token file counts without a restart. */
  readonly token: () => Promise<string>;
  readonly clientId: string | null;
  readonly register: () => ClientMessage;
  /** Registered: results may be sent. */
  readonly onReady: (sessionId: string | null) => void;
  readonly onMessage: (message: ServerMessage) => void;
  readonly now: () => number;
  readonly monotonicMs: () => number;
  readonly random: () => number;
  readonly logger: Logger;
}

const REGISTER_ANSWER_MS = 10_000;
const HEARTBEAT_MS = 20_000;
/** Messages that wait for a slow server; what is dropped beyond is in the journal or will be asked again. */
const OUTBOX_MAX = 4_096;

interface Live {
  readonly transport: Transport;
  ready: boolean;
  readyAtMs: number;
}

/** Keeps one registered connection to the server and tries again for ever when there is none. */
export class DeviceLink {
  private live: Live | undefined;
  private outbox: ClientMessage[] = [];

  constructor(private readonly options: DeviceLinkOptions) {}

  /** Runs until the signal; never throws for what the network or the server does. */
  async run(signal: AbortSignal): Promise<void> {
    const { logger, monotonicMs, random } = this.options;
    for (let failures = 0; !signal.aborted;) {
      const { uptimeMs, replaced } = await this.connectOnce(signal);
      if (signal.aborted) return;
      failures = failuresAfter(RECONNECT, failures, uptimeMs);
      // Two clients with one token would take the session from each other as fast as they can.
      const waitMs = replaced ? RECONNECT.msMax : delayMs(RECONNECT, failures, random());
      logger.info({ waitMs, failures, uptimeMs, at: Math.round(monotonicMs()) }, 'will connect again');
      await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Dropped when not registered: everything that matters is said again after the next registration. */
  send(message: ClientMessage): void {
    const { live } = this;
    if (live?.ready !== true) return;
    if (this.outbox.length > 0 || live.transport.congested) {
      if (this.outbox.length < OUTBOX_MAX) this.outbox.push(message);
      return;
    }
    live.transport.send(JSON.stringify(message));
  }

  /** The tools changed: the server learns it from a new REGISTER, which needs a new connection. */
  registerAgain(): void {
    if (this.live?.ready === true) this.live.transport.close(AIP_CLOSE.normal, 'the tools of this device changed');
  }

  private async connectOnce(signal: AbortSignal): Promise<{ uptimeMs: number; replaced: boolean }> {
    const { url, token, logger, monotonicMs } = this.options;
    let live: Live | undefined;
    try {
      const clock = { now: monotonicMs };
      const frameBytesMax = AIP_LIMITS.foreignFrameBytesMax;
      const transport = await connectWs({ url, token: await token(), clock, frameBytesMax, signal });
      live = { transport, ready: false, readyAtMs: 0 };
      this.live = live;
      const closed = await this.serve(live, signal);
      logger.warn({ url, ...closed }, 'disconnected');
      return {
        uptimeMs: live.ready ? monotonicMs() - live.readyAtMs : 0,
        replaced: closed.code === AIP_CLOSE.replaced,
      };
    } catch (error) {
      const status = error instanceof HandshakeRefused ? error.status : undefined;
      const rejected = status === 401 || status === 403;
      const reason = rejected ? 'the server does not accept the token' : messageOf(error);
      if (!signal.aborted) logger.warn({ url, status, reason }, 'not connected');
      return { uptimeMs: 0, replaced: false };
    } finally {
      this.live = undefined;
      this.outbox = [];
    }
  }

  /** One connection, from REGISTER to its end. */
  private async serve(live: Live, signal: AbortSignal): Promise<Closed> {
    const { transport } = live;
    const { register, now, clientId } = this.options;
    const { promise: ended, resolve: closed } = Promise.withResolvers<Closed>();
    const goodbye = (): void => transport.close(AIP_CLOSE.goingAway, 'the device client stops');
    signal.addEventListener('abort', goodbye, { once: true });
    const silence = setTimeout(() => {
      if (!live.ready) transport.close(AIP_CLOSE.policy, 'no answer to REGISTER');
    }, REGISTER_ANSWER_MS);
    const heartbeats = setInterval(() => this.send(heartbeatMessage(clientId, now())), HEARTBEAT_MS);
    transport.handle({ frame: (text) => this.onFrame(live, text), closed, drained: () => this.flush(live) });
    transport.send(JSON.stringify(register()));
    try {
      return await ended;
    } finally {
      clearTimeout(silence);
      clearInterval(heartbeats);
      signal.removeEventListener('abort', goodbye);
    }
  }

  private onFrame(live: Live, text: string | null): void {
    const { logger, onReady, onMessage, monotonicMs } = this.options;
    const decoded = decodeServerMessage(text);
    if (!decoded.ok) {
      logger.debug({ error: decoded.error }, 'frame ignored');
      return;
    }
    const { message } = decoded;
    if (message.type === 'error') logger.warn({ error: message.error?.slice(0, 500) }, 'the server complains');
    if (message.type === 'heartbeat') {
      if (live.ready) return;
      live.ready = true;
      live.readyAtMs = monotonicMs();
      onReady(message.orrery?.session_id ?? null);
      return;
    }
    // A foreign server may send commands before it has confirmed anything.
    onMessage(message);
  }

  private flush(live: Live): void {
    while (this.outbox.length > 0 && !live.transport.congested) {
      const message = this.outbox.shift();
      if (message !== undefined) live.transport.send(JSON.stringify(message));
    }
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Both addresses of "localhost" refused: the aggregate itself says nothing.
  return error.message === '' ? (errorCode(error) ?? error.name) : error.message;
}
