import { WebSocket, type ClientOptions } from 'ws';
import { CheckFailed, demand, text } from './check.js';

/** A frame as it stands on the wire. Nothing of the project's own parser: a suite that shares the bug does not find it. */
export type Frame = Readonly<Record<string, unknown>> & { readonly type: string };

export interface Ended {
  readonly code: number;
  readonly reason: string;
}

export interface DialOptions {
  readonly url: string;
  readonly token?: string;
  /** Clients of other systems can only put their token into the URL. */
  readonly tokenIn?: 'query' | 'header';
  readonly headers?: Readonly<Record<string, string>>;
  readonly deflate?: boolean;
  /** How long an answer may take. */
  readonly answerMs: number;
  /** How long a TASK may take to its end. */
  readonly taskMs?: number;
}

/** The server answered the upgrade with an HTTP status. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: number;

  constructor(status: number) {
    super(`the upgrade was answered with HTTP ${status}`);
    this.status = status;
  }
}

const FRAME_TYPES_OF_A_PING_MAX = 125;
/** What a broken server sends is kept up to here. */
const FRAMES_KEPT_MAX = 100_000;

/** One raw connection: sends any bytes, keeps everything that comes. */
export class Peer {
  /** Everything that was received, in order. */
  readonly frames: Frame[] = [];
  /** What was received and is no frame of a server: why, and its beginning. */
  readonly malformed: string[] = [];
  readonly closed: Promise<Ended>;
  readonly taskMs: number;
  /** Sees each frame as it comes, before anybody who waits. */
  onFrame: ((frame: Frame) => void) | undefined;
  readonly #socket: WebSocket;
  #ended: Ended | undefined;
  readonly #taken = new Set<Frame>();
  readonly #watchers = new Set<() => void>();
  readonly #answerMs: number;

  private constructor(socket: WebSocket, { answerMs, taskMs = answerMs }: DialOptions) {
    this.#socket = socket;
    this.#answerMs = answerMs;
    this.taskMs = taskMs;
    const { promise, resolve } = Promise.withResolvers<Ended>();
    this.closed = promise;
    socket.on('message', (data: Buffer, isBinary: boolean) => this.#receive(data, isBinary));
    socket.on('error', () => undefined);
    socket.on('close', (code: number, reason: Buffer) => {
      this.#ended = { code, reason: reason.toString() };
      resolve(this.#ended);
      this.#look();
    });
  }

  /** Throws Refused, or CheckFailed when nobody answers. */
  static async dial(options: DialOptions): Promise<Peer> {
    const { token, tokenIn = 'query', headers = {}, deflate = false, answerMs } = options;
    const url = new URL(options.url);
    if (token !== undefined && tokenIn === 'query') url.searchParams.set('token', token);
    const bearer = token !== undefined && tokenIn === 'header' ? { Authorization: `Bearer ${token}` } : {};
    const settings: ClientOptions = {
      handshakeTimeout: answerMs,
      perMessageDeflate: deflate,
      headers: { ...bearer, ...headers },
      maxPayload: 0,
    };
    const socket = new WebSocket(url, settings);
    const peer = new Peer(socket, options);
    const { promise, resolve, reject } = Promise.withResolvers<Peer>();
    socket.once('open', () => resolve(peer));
    socket.once('unexpected-response', (request, response) => {
      reject(new Refused(response.statusCode ?? 0));
      response.resume();
      request.destroy();
    });
    socket.once('error', (error) => reject(new CheckFailed(`no connection: ${error.message}`)));
    return promise;
  }

  send(frame: Readonly<Record<string, unknown>>): void {
    this.raw(JSON.stringify(frame));
  }

  /** Text as a text frame, bytes as a binary frame. */
  raw(data: string | Buffer): void {
    this.#socket.send(data);
  }

  /** One message in as many pieces. */
  fragments(pieces: readonly string[]): void {
    for (const [index, piece] of pieces.entries()) this.#socket.send(piece, { fin: index === pieces.length - 1 });
  }

  /** A text frame whose bytes need not be UTF-8. */
  bytesAsText(data: Buffer): void {
    this.#socket.send(data, { binary: false });
  }

  /** Resolves when the pong with the same payload is here. */
  async ping(payload: string): Promise<void> {
    demand(payload.length <= FRAME_TYPES_OF_A_PING_MAX, 'a ping has at most 125 bytes');
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#socket.on('pong', (data: Buffer) => (data.toString() === payload ? resolve() : undefined));
    this.#socket.ping(payload);
    await this.#within(promise, this.#answerMs, 'no pong came');
  }

  get isOpen(): boolean {
    return this.#ended === undefined;
  }

  /** The first frame, so far or from now on, that passes and was not taken before. */
  async next(what: string, passes: (frame: Frame) => boolean, withinMs = this.#answerMs): Promise<Frame> {
    const { promise, resolve, reject } = Promise.withResolvers<Frame>();
    const look = (): void => {
      const found = this.frames.find((frame) => !this.#taken.has(frame) && passes(frame));
      if (found !== undefined) {
        this.#watchers.delete(look); // the next frame may be in the same packet, and is not for this one
        this.#taken.add(found);
        resolve(found);
      } else if (this.#ended !== undefined) {
        reject(new CheckFailed(`closed with ${this.#ended.code} before ${what} came${this.#last()}`));
      }
    };
    this.#watchers.add(look);
    look();
    try {
      return await this.#within(promise, withinMs, `${what} did not come`);
    } finally {
      this.#watchers.delete(look);
    }
  }

  /** The next frame of this type. */
  nextOf(type: string, withinMs?: number): Promise<Frame> {
    return this.next(type.toUpperCase(), (frame) => frame.type === type, withinMs);
  }

  /** How the server ends the connection. */
  async untilClosed(withinMs = this.#answerMs): Promise<Ended> {
    return this.#within(this.closed, withinMs, 'the connection was not closed');
  }

  /** Says goodbye and waits until it is answered. */
  async close(code = 1000): Promise<Ended> {
    this.#socket.close(code);
    return this.untilClosed();
  }

  /** Cuts the cable: no close frame. */
  cut(): void {
    this.#socket.terminate();
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (this.frames.length + this.malformed.length >= FRAMES_KEPT_MAX) return;
    const frame = isBinary ? 'a binary frame' : frameOf(data.toString());
    if (typeof frame === 'string') {
      this.malformed.push(frame);
      return;
    }
    const flaw = flawOf(frame);
    if (flaw !== undefined) this.malformed.push(`${flaw}: ${text(frame)}`);
    this.frames.push(frame);
    this.onFrame?.(frame);
    this.#look();
  }

  #look(): void {
    for (const look of this.#watchers) look();
  }

  #last(): string {
    const last = this.frames.at(-1);
    return last === undefined ? '' : `; the last frame was ${text(last)}`;
  }

  async #within<T>(promise: Promise<T>, ms: number, otherwise: string): Promise<T> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new CheckFailed(`${otherwise} in ${ms} ms${this.#last()}`)), ms);
    try {
      return await Promise.race([promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

function frameOf(data: string): Frame | string {
  try {
    const json: unknown = JSON.parse(data);
    if (typeof json === 'object' && json !== null && 'type' in json && typeof json.type === 'string')
      return json as Frame;
    return `no object with a type: ${text(json)}`;
  } catch {
    return `not JSON: ${text(data)}`;
  }
}

const STATUSES = new Set(['continue', 'completed', 'failed', 'ok', 'error']);
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/u;

/** What is wrong with every frame of a server that has this shape, whatever it is about. */
function flawOf({ status, timestamp, response_id: responseId, session_id: sessionId }: Frame): string | undefined {
  if (typeof status !== 'string' || !STATUSES.has(status)) return 'status is none of the five';
  if (typeof (timestamp ?? '') !== 'string') return 'timestamp is no text';
  if (typeof timestamp === 'string' && !INSTANT.test(timestamp)) return 'timestamp is no RFC 3339 time';
  if (typeof (responseId ?? '') !== 'string') return 'response_id is no text';
  if (typeof (sessionId ?? '') !== 'string') return 'session_id is no text';
  return undefined;
}
