import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import type { WebSocket } from 'ws';
import { withKnownEncodings } from './asked-encodings.js';
import { ClientMessageError, ClientMessages } from './client-messages.js';
import { Hands } from './hands.js';
import { ViewerGreeting } from './viewer-greeting.js';

/** Of `close`: the view is over because of the viewer, of his login, or of the server. */
export const VIEW_CLOSE = { refused: 1008, over: 1001, server: 1011 } as const;

export const VIEW_LIMITS = {
  /** What may wait for a viewer before nothing more is taken from the server. */
  bufferBytesMax: 1024 * 1024,
  /** A viewer that does not take what waits within this is dropped. */
  drainMsMax: 10_000,
  pingMs: 20_000,
} as const;

export interface ScreenViewParts {
  readonly viewer: WebSocket;
  readonly server: Socket;
  /** Whether this viewer has the screen now. Rejects when that cannot be found out. */
  readonly has: () => Promise<boolean>;
  readonly logger: Logger;
}

/** One viewer of one screen: sees what its server sends, and acts on it as long as the screen is his. */
export class ScreenView {
  readonly #parts: ScreenViewParts;
  readonly #greeting = new ViewerGreeting();
  readonly #messages = new ClientMessages();
  readonly #hands = new Hands();
  readonly #pinging: NodeJS.Timeout;
  #late: NodeJS.Timeout | undefined;
  #isGreeted = false;
  #isAlive = true;
  #turn: Promise<void> = Promise.resolve();

  constructor(parts: ScreenViewParts) {
    this.#parts = parts;
    const { viewer, server } = parts;
    this.#pinging = setInterval(() => this.#ping(), VIEW_LIMITS.pingMs).unref();
    viewer.on('pong', () => (this.#isAlive = true));
    viewer.on('message', (data: Buffer) => this.#said(data));
    viewer.on('error', () => viewer.terminate());
    viewer.once('close', () => this.#end());
    server.on('error', () => server.destroy());
    server.once('close', () => this.close(VIEW_CLOSE.server, 'the screen is gone'));
    viewer.send(ViewerGreeting.opening);
  }

  /** Ends it, whether the viewer has a word left or not. */
  close(code: number, reason: string): void {
    const { viewer } = this.#parts;
    if (viewer.readyState < viewer.CLOSING) viewer.close(code, reason);
    this.#end();
  }

  /** One piece after the other: nothing more is read of a viewer until it is known whether what he says may pass. */
  #said(data: Buffer): void {
    const { viewer, logger } = this.#parts;
    viewer.pause();
    this.#turn = this.#turn
      .then(() => this.#take(data))
      .catch((err: unknown) => {
        if (!(err instanceof ClientMessageError)) logger.warn({ err }, 'a viewer of a screen was sent away');
        this.close(VIEW_CLOSE.refused, err instanceof ClientMessageError ? err.message : 'it cannot be passed on');
      })
      .finally(() => viewer.resume());
  }

  async #take(data: Buffer): Promise<void> {
    if (this.#isGreeted) return this.#pass(data);
    const greeted = this.#greeting.take(data);
    if (greeted === undefined) throw new ClientMessageError('this is no viewer of protocol 3.8');
    for (const reply of greeted.replies) this.#parts.viewer.send(reply);
    if (greeted.rest === undefined) return;
    this.#isGreeted = true;
    this.#parts.server.on('data', (piece: Buffer) => this.#show(piece)).resume();
    return this.#pass(greeted.rest);
  }

  async #pass(data: Buffer): Promise<void> {
    const { server } = this.#parts;
    for (const message of this.#messages.take(data)) {
      const has = Hands.acts(message) && (await this.#has());
      if (server.destroyed) return;
      for (const bytes of this.#hands.passes(withKnownEncodings(message), has)) server.write(bytes);
    }
  }

  /** What cannot be found out is no permission. */
  async #has(): Promise<boolean> {
    const { has, logger } = this.#parts;
    return has().catch((err: unknown) => {
      logger.warn({ err }, 'who has a screen could not be found out, nobody acts on it');
      return false;
    });
  }

  #show(piece: Buffer): void {
    const { viewer, server } = this.#parts;
    viewer.send(piece, () => this.#shown());
    if (viewer.bufferedAmount <= VIEW_LIMITS.bufferBytesMax) return;
    server.pause();
    this.#late ??= setTimeout(() => viewer.terminate(), VIEW_LIMITS.drainMsMax).unref();
  }

  #shown(): void {
    const { viewer, server } = this.#parts;
    if (this.#late === undefined || viewer.bufferedAmount > VIEW_LIMITS.bufferBytesMax / 2) return;
    clearTimeout(this.#late);
    this.#late = undefined;
    server.resume();
  }

  #ping(): void {
    const { viewer } = this.#parts;
    if (!this.#isAlive) return viewer.terminate();
    this.#isAlive = false;
    viewer.ping();
  }

  /** What the viewer holds down is let go of, whoever has the screen next. */
  #end(): void {
    const { server } = this.#parts;
    clearInterval(this.#pinging);
    clearTimeout(this.#late);
    if (server.destroyed) return;
    for (const bytes of this.#hands.letGo()) server.write(bytes);
    server.destroySoon();
  }
}
