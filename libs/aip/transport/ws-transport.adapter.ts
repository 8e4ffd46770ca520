import type { Duplex } from 'node:stream';
import type { SecureContextOptions } from 'node:tls';
import { WebSocket, type ClientOptions, type RawData } from 'ws';
import { AIP_CLOSE, AIP_LIMITS } from '#proto';
import { FrameInbox } from './frame-inbox.js';
import { FrameMeter } from './frame-meter.js';
import { alive, check, heard, trickled, type LivenessPolicy } from './liveness.js';
import type { LargeFrames, Transport, TransportHandlers } from './transport.js';

const CHECK_EVERY_MS = 1_000;
/** A close frame has room for 123 bytes. */
const CLOSE_REASON_CHARS_MAX = 100;

export interface WsTransportOptions {
  readonly clock: { now(): number };
  readonly liveness?: LivenessPolicy;
  /** How often the peer's silence is measured. */
  readonly checkEveryMs?: number;
  /** Bytes that have come in so far: on a slow line they prove life long before a large frame is whole. */
  readonly bytesRead?: () => number;
  /** Undefined: no frame is larger than what is parsed at once. */
  readonly large?: LargeOptions;
}

export interface LargeOptions {
  readonly frames: LargeFrames;
  /** The bytes that the socket is made of. */
  readonly raw: Duplex;
  /** What may not be kept of what the peer says. */
  readonly secrets: () => readonly string[];
  /** Whether somebody waits for what the peer may have to say. */
  readonly isWanted: () => boolean;
  /** A message of so many bytes was announced, and is not taken. */
  readonly refused: (bytes: number) => void;
}

/** The WebSocket of either end as a Transport: pings, finds a dead peer, and cuts off one that takes nothing. */
export function wsTransport(socket: WebSocket, options: WsTransportOptions): Transport {
  const { clock, liveness: policy = AIP_LIMITS, checkEveryMs = CHECK_EVERY_MS, bytesRead = () => 0 } = options;
  const inbox = new FrameInbox();
  const reading = pausable(socket);
  const large = options.large && largeFramesOf(socket, options.large, { inbox, reading });
  let handlers: TransportHandlers | undefined;
  let isOver = false;
  let wasCongested = false;
  let liveness = alive(clock.now());
  let closing: NodeJS.Timeout | undefined;

  const onSound = (): void => {
    liveness = heard(liveness, clock.now());
  };
  let bytesHeard = bytesRead();
  const ticking = setInterval(() => {
    const bytes = bytesRead();
    // Who is not read cannot be heard.
    if (large?.isWaiting === true) onSound();
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
    if (!isOver) handlers?.drained?.();
  };

  socket.on('message', (data: RawData, isBinary: boolean) => {
    onSound();
    if (large?.take(data, isBinary) !== true)
      inbox.push(isBinary ? { frame: null, bytes: bytesOf(data) } : { frame: textOf(data) });
  });
  socket.on('pong', onSound);
  socket.on('ping', onSound);
  // A broken frame or one that is too large: `close` follows with its code, there is nothing more to know.
  socket.on('error', () => undefined);
  socket.on('close', (code: number, reason: Buffer) => {
    clearInterval(ticking);
    clearTimeout(closing);
    isOver = true;
    large?.ended();
    inbox.push({ closed: { code, reason: reason.toString() } });
  });

  const send = (frame: string | Uint8Array): boolean => {
    if (socket.readyState !== WebSocket.OPEN) return false;
    socket.send(frame, onWritten);
    wasCongested ||= socket.bufferedAmount > AIP_LIMITS.congestedBytes;
    if (socket.bufferedAmount > AIP_LIMITS.bufferedBytesMax) socket.terminate();
    return true;
  };

  return {
    handle: (given) => {
      handlers = given;
      inbox.handle(given);
    },
    send,
    sendBytes: send,
    close: (code, reason) => {
      if (socket.readyState === WebSocket.CLOSED || closing !== undefined) return;
      socket.resume(); // the peer's close frame must be read
      socket.close(code, reason);
      closing = setTimeout(() => socket.terminate(), AIP_LIMITS.closeWithinMs);
    },
    terminate: () => socket.terminate(),
    pause: () => reading.pause('reader'),
    resume: () => reading.resume('reader'),
    get congested() {
      return wasCongested;
    },
  };
}

/** Why a socket is not read. */
type PausedBy = 'reader' | 'large';

interface Reading {
  pause(by: PausedBy): void;
  resume(by: PausedBy): void;
}

/** Read again when nobody has a reason left not to. */
function pausable(socket: WebSocket): Reading {
  const reasons = new Set<PausedBy>();
  return {
    pause: (by) => {
      reasons.add(by);
      socket.pause();
    },
    resume: (by) => {
      if (reasons.delete(by) && reasons.size === 0) socket.resume();
    },
  };
}

interface Large {
  /** True: it is read elsewhere, and what is left of it comes into the inbox later. */
  take(data: RawData, isBinary: boolean): boolean;
  ended(): void;
  /** The peer is not read now. */
  readonly isWaiting: boolean;
}

/** Looks at what is announced: what is too large is refused at its header, what is large is read when it is its turn. */
function largeFramesOf(
  socket: WebSocket,
  { frames, raw, secrets, isWanted, refused }: LargeOptions,
  { inbox, reading }: { readonly inbox: FrameInbox; readonly reading: Reading },
): Large {
  let giveBack: (() => void) | undefined;
  let tooLate: NodeJS.Timeout | undefined;
  let isWaiting = false;
  const leave = (): void => {
    clearTimeout(tooLate);
    giveBack?.();
    giveBack = undefined;
  };
  const read = (by: 'pause' | 'resume'): void => {
    isWaiting = by === 'pause';
    reading[by]('large');
  };
  const begin = (): void => {
    read('resume');
    const late = `a message above ${frames.fromBytes} bytes was not there within ${frames.withinMs} ms`;
    tooLate = setTimeout(() => socket.close(AIP_CLOSE.policy, late), frames.withinMs);
  };
  const meter = new FrameMeter((bytes) => {
    const isUnwanted = bytes > frames.fromBytes && !isWanted();
    if (bytes > frames.bytesMax || isUnwanted) {
      refused(bytes);
      leave();
      // Read on and thrown away: a peer whose bytes nobody takes is reset, and never sees why.
      raw.removeAllListeners('data');
      read('resume');
      raw.resume();
      const why = isUnwanted ? 'nobody waits for one' : `at most ${frames.bytesMax} are taken`;
      socket.close(AIP_CLOSE.tooLarge, `a message of ${bytes} bytes; ${why}`);
      tooLate = setTimeout(() => socket.terminate(), AIP_LIMITS.closeWithinMs);
    } else if (bytes > frames.fromBytes && giveBack === undefined) {
      read('pause');
      giveBack = frames.enter(begin);
    }
  });
  raw.prependListener('data', (chunk: Uint8Array) => meter.take(chunk));
  return {
    take: (data, isBinary) => {
      const frame = bytesOf(data);
      if (frame.length <= frames.fromBytes) return false;
      clearTimeout(tooLate);
      if (isBinary) {
        leave();
        return false;
      }
      const give = inbox.hold();
      read('pause');
      frames
        .reduce(frame, secrets())
        .then(give, (error: unknown) => {
          socket.close(AIP_CLOSE.internalError, String(error).slice(0, CLOSE_REASON_CHARS_MAX));
          give(undefined);
        })
        .finally(() => {
          leave();
          read('resume');
        });
      return true;
    },
    ended: leave,
    get isWaiting() {
      return isWaiting;
    },
  };
}

const textOf = (data: RawData): string => bytesOf(data).toString();

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
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
