import type { Readable, Writable } from 'node:stream';
import { z } from 'zod';
import { screenName } from '#libs/screen';
import { parseJson } from '#proto';
import { DesktopFault, inTime } from '../faults/index.js';
import { PipeMessages, type PipeMessage } from './pipe-messages.js';

/** Something that the browser says unasked. */
export interface DevToolsEvent {
  readonly method: string;
  readonly params?: unknown;
  readonly sessionId?: string | undefined;
}

/** One question, and what its answer looks like. */
export interface DevToolsQuestion<T> {
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
  /** Of one page; without one the browser is asked. */
  readonly session?: string;
  readonly gives: z.ZodType<T>;
  /** How long its answer may take. */
  readonly ms?: number;
}

/** A page that does not answer for so long is busy, or stands still while it shows a dialog. */
const ANSWER_MS = 5_000;

const Answer = z.object({
  id: z.int(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
});
const Event = z.object({ method: z.string(), params: z.unknown().optional(), sessionId: z.string().optional() });

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** A browser, asked over the two ends of the pipe that it was started with. */
export class DevToolsPipe {
  readonly #to: Writable;
  readonly #messages = new PipeMessages();
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners = new Set<(event: DevToolsEvent) => void>();
  #asked = 0;
  #isOver = false;

  constructor(to: Writable, from: Readable) {
    this.#to = to;
    to.on('error', () => this.#end());
    from.on('error', () => this.#end());
    from.on('close', () => this.#end());
    from.on('data', (chunk: Buffer) => {
      for (const message of this.#messages.append(chunk)) this.#take(message);
    });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** What the browser answers; a fault when it refuses, or says nothing in time. */
  async ask<T>({ method, params = {}, session, gives, ms = ANSWER_MS }: DevToolsQuestion<T>): Promise<T> {
    if (this.#isOver) throw gone();
    const id = ++this.#asked;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#waiting.set(id, { resolve, reject });
    this.#to.write(`${JSON.stringify({ id, method, params, ...(session !== undefined && { sessionId: session }) })}\0`);
    try {
      const answer = await inTime(promise, ms, 'NOT_RESPONDING', SILENT);
      const read = gives.safeParse(answer);
      if (read.success) return read.data;
      throw new DesktopFault('NOT_FOUND', `the browser has answered ${method} with what cannot be read`);
    } finally {
      this.#waiting.delete(id);
    }
  }

  /** Hears what the browser says unasked, until the answer is called. */
  hear(listener: (event: DevToolsEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #take(message: PipeMessage): void {
    if ('head' in message) {
      const id = Number(/^\{"id":(\d+)/u.exec(message.head)?.[1]);
      return this.#waiting.get(id)?.reject(new DesktopFault('OUTSIDE', 'the page is too large to be read'));
    }
    const value = parseJson(message.text);
    const answer = Answer.safeParse(value);
    if (answer.success) return this.#answered(answer.data);
    const event = Event.safeParse(value);
    if (event.success) for (const listener of this.#listeners) listener(event.data);
  }

  #answered({ id, result, error }: z.infer<typeof Answer>): void {
    const waiting = this.#waiting.get(id);
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(new DesktopFault('NOT_FOUND', `the browser says: ${screenName(error.message)}`));
  }

  #end(): void {
    this.#isOver = true;
    for (const waiting of this.#waiting.values()) waiting.reject(gone());
    this.#waiting.clear();
  }
}

const SILENT =
  'the page does not answer: it is busy, or waits for the answer to a dialog, which is given in its window';
const gone = (): DesktopFault => new DesktopFault('NOT_RESPONDING', 'the browser has ended');
