import type { SecureContextOptions } from 'node:tls';
import { WebSocket, type ClientOptions, type RawData } from 'ws';
import { AIP_LIMITS } from '#proto';
import { alive, check, heard, trickled, type LivenessPolicy } from './liveness.js';
import type { Closed, Transport, TransportHandlers } from './transport.js';

const CHECK_EVERY_MS = 1_000;

export interface WsTransportOptions {
  readonly clock: { now(): number };
  readonly liveness?: LivenessPolicy;
  /** How often the peer's silence is measured. */
  readonly checkEveryMs?: number;
  /** Bytes that have come in so far: on a slow line they prove life long before a large frame is whole. */
  readonly bytesRead?: () => number;
}

/** The WebSocket of either end as a Transport: pings, finds a dead peer, and cuts off one that takes nothing. */
export function wsTransport(socket: WebSocket, options: WsTransportOptions): Transport {
  const { clock, liveness: policy = AIP_LIMITS, checkEveryMs = CHECK_EVERY_MS, bytesRead = () => 0 } = options;
  let handlers: TransportHandlers | undefined;
  const early: (string | null)[] = [];
  let ended: Closed | undefined;
  let wasCongested = false;
  let liveness = alive(clock.now());
  let closing: NodeJS.Timeout | undefined;

  const onSound = (): void => {
    liveness = heard(liveness, clock.now());
  };
  let bytesHeard = bytesRead();
  const ticking = setInterval(() => {
    const bytes = bytesRead();
    if (bytes !== bytesHeard) liveness = trickled(liveness, clock.now());
    bytesHeard = bytes;
    const [next, verdict] = check(liveness, clock.now(), policy);
    liveness = next;
    if (verdict === 'dead') socket.terminate();
    else if (verdict === 'ping' && socket.readyState === WebSocket.OPEN) socket.ping();
  }, checkEveryMs);

  const onWritten = (): void => {
    if (!wasCongested || socket.bufferedAmount > AIP_LIMITS.congestedBytes) return;
    wasCongested = false;
    if (ended === undefined) handlers?.drained?.();
  };

  socket.on('message', (data: RawData, isBinary: boolean) => {
    onSound();
    const frame = isBinary ? null : textOf(data);
    if (handlers === undefined) early.push(frame);
    else handlers.frame(frame);
  });
  socket.on('pong', onSound);
  socket.on('ping', onSound);
  // A broken frame or one that is too large: `close` follows with its code, there is nothing more to know.
  socket.on('error', () => undefined);
  socket.on('close', (code: number, reason: Buffer) => {
    clearInterval(ticking);
    clearTimeout(closing);
    ended = { code, reason: reason.toString() };
    handlers?.closed(ended);
  });

  return {
    handle: (given) => {
      handlers = given;
      for (const frame of early.splice(0)) given.frame(frame);
      if (ended !== undefined) given.closed(ended);
    },
    send: (text) => {
      if (socket.readyState !== WebSocket.OPEN) return false;
      socket.send(text, onWritten);
      wasCongested ||= socket.bufferedAmount > AIP_LIMITS.congestedBytes;
      if (socket.bufferedAmount > AIP_LIMITS.bufferedBytesMax) socket.terminate();
      return true;
    },
    close: (code, reason) => {
      if (socket.readyState === WebSocket.CLOSED || closing !== undefined) return;
      socket.resume(); // the peer's close frame must be read
      socket.close(code, reason);
      closing = setTimeout(() => socket.terminate(), AIP_LIMITS.closeWithinMs);
    },
    terminate: () => socket.terminate(),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    get congested() {
      return wasCongested;
    },
  };
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString();
  return Buffer.isBuffer(data) ? data.toString() : Buffer.from(data).toString();
}

/** The server answered the handshake with something else than a WebSocket: 401 and 403 need a person, the rest time. */
export class HandshakeRefused extends Error {
  override readonly name = 'HandshakeRefused';
  readonly status: number;

  constructor(status: number) {
    super(`the server refused the connection with HTTP ${status}`);
    this.status = status;
  }
}

export interface ConnectOptions extends WsTransportOptions {
  readonly url: string;
  /** Sent as a header: a URL ends up in logs. */
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Of wss: whom to trust, and what to show to a server that asks for a certificate. */
  readonly tls?: Pick<SecureContextOptions, 'ca' | 'cert' | 'key'>;
  readonly frameBytesMax?: number;
  readonly signal?: AbortSignal;
}

/** The client's end. Throws HandshakeRefused, or the network's error when nobody answers. */
export function connectWs(options: ConnectOptions): Promise<Transport> {
  const { url, token, headers, tls, frameBytesMax = AIP_LIMITS.frameBytesMax, signal } = options;
  signal?.throwIfAborted();
  const settings: ClientOptions = {
    ...tls,
    handshakeTimeout: AIP_LIMITS.handshakeMs,
    maxPayload: frameBytesMax,
    perMessageDeflate: false,
    headers: { ...headers, ...(token !== undefined && { Authorization: `Bearer ${token}` }) },
  };
  const { promise, resolve, reject } = Promise.withResolvers<Transport>();
  const socket = new WebSocket(url, settings);
  const abort = (): void => socket.terminate();
  signal?.addEventListener('abort', abort, { once: true });
  // Made at once: a frame that comes with the answer to the handshake must not get lost.
  let incoming: { readonly bytesRead: number } | undefined;
  socket.once('upgrade', ({ socket: raw }) => (incoming = raw));
  const transport = wsTransport(socket, { ...options, bytesRead: () => incoming?.bytesRead ?? 0 });
  socket.once('open', () => resolve(transport));
  socket.once('unexpected-response', (request, response) => {
    reject(new HandshakeRefused(response.statusCode ?? 0));
    response.resume();
    request.destroy();
    socket.terminate();
  });
  socket.once('error', reject);
  socket.once('close', () => reject(new Error('the connection ended before it was open')));
  return promise.finally(() => signal?.removeEventListener('abort', abort));
}
