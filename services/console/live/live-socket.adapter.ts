import { setTimeout as sleep } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { LIVE_CLOSE } from '#proto';
import type { OpenAnswers } from '../http/index.js';

export const LIVE_SOCKET_LIMITS = {
  /** What may wait to be sent to one client before nothing more is read for it. */
  bufferBytesMax: 256 * 1024,
  /** A client that does not take what waits within this is dropped. */
  drainMsMax: 10_000,
  /** How often it is asked whether it is still there; one that has not answered by the next time is dropped. */
  pingMs: 20_000,
  /** Words at once, e.g. all channels of a page that comes back, and how long each takes to be allowed again. */
  wordsMax: 128,
  wordMs: 50,
  /** How long a client may take to say goodbye. */
  closeMsMax: 1_000,
} as const;
export type LiveSocketLimits = { readonly [K in keyof typeof LIVE_SOCKET_LIMITS]: number };

/** An open socket that is written to at the pace of who reads it. */
export class LiveSocket {
  readonly #socket: WebSocket;
  readonly #answers: OpenAnswers;
  readonly #limits: LiveSocketLimits;
  readonly #over = new AbortController();
  #draining: PromiseWithResolvers<boolean> | undefined;
  #late: NodeJS.Timeout | undefined;
  #pinging: NodeJS.Timeout;
  #isAlive = true;
  /** When the words that were allowed would all be allowed again. */
  #wordsUntil = 0;

  constructor(socket: WebSocket, answers: OpenAnswers, limits: LiveSocketLimits = LIVE_SOCKET_LIMITS) {
    this.#socket = socket;
    this.#answers = answers;
    this.#limits = limits;
    answers.add(this);
    socket.on('pong', () => (this.#isAlive = true));
    socket.on('error', () => socket.terminate());
    socket.once('close', () => this.#end());
    this.#pinging = setInterval(() => this.#ping(), limits.pingMs).unref();
  }

  /** Aborted when nobody hears anything any more. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Bytes that the client has not taken yet. */
  get writableLength(): number {
    return this.#socket.bufferedAmount;
  }

  /** Sends; resolves when there is room for more, with false when it is over. */
  async send(text: string): Promise<boolean> {
    if (this.signal.aborted) return false;
    this.#socket.send(text, () => this.#sent());
    this.#answers.bound();
    if (this.signal.aborted) return false;
    if (this.writableLength <= this.#limits.bufferBytesMax) return true;
    this.#late ??= setTimeout(() => this.destroy(), this.#limits.drainMsMax).unref();
    this.#draining ??= Promise.withResolvers();
    return this.#draining.promise;
  }

  /** Resolves when the client may say one more word: who says many in a row waits for each, and costs the log no more than others. */
  async turn(): Promise<void> {
    const { wordsMax, wordMs } = this.#limits;
    const now = performance.now();
    this.#wordsUntil = Math.max(this.#wordsUntil, now) + wordMs;
    const lateMs = this.#wordsUntil - now - wordsMax * wordMs;
    if (lateMs > 0) await sleep(lateMs, undefined, { signal: this.signal, ref: false }).catch(() => undefined);
  }

  /** It is too slow for what it asks for. */
  destroy(): void {
    this.close(LIVE_CLOSE.slow, 'too much waits to be taken');
  }

  /** Ends it, whether the client has a word left or not. */
  close(code: number, reason: string): void {
    this.#over.abort();
    this.#draining?.resolve(false);
    if (this.#socket.readyState >= this.#socket.CLOSING) return;
    this.#socket.close(code, reason);
    setTimeout(() => this.#socket.terminate(), this.#limits.closeMsMax).unref();
  }

  #sent(): void {
    if (this.writableLength > this.#limits.bufferBytesMax / 2) return;
    clearTimeout(this.#late);
    this.#late = undefined;
    this.#draining?.resolve(!this.signal.aborted);
    this.#draining = undefined;
  }

  #ping(): void {
    if (!this.#isAlive) return this.#socket.terminate();
    this.#isAlive = false;
    this.#socket.ping();
  }

  #end(): void {
    clearInterval(this.#pinging);
    clearTimeout(this.#late);
    this.#answers.delete(this);
    this.#over.abort();
    this.#draining?.resolve(false);
  }
}
