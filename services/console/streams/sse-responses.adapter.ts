import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { RefusedError } from '../http/index.js';
import { HEARTBEAT, RETRY } from './sse.js';

/** The open streams of one kind: counted, ended when their client goes and when the service stops. */
export class SseResponses {
  readonly #streamsMax: number;
  readonly #open = new Set<AbortController>();

  constructor(streamsMax: number) {
    this.#streamsMax = streamsMax;
  }

  /** Does the work of one stream. Throws RefusedError when there are too many. */
  async serve(response: ServerResponse, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (this.#open.size >= this.#streamsMax) {
      throw new RefusedError({ code: 'TRY_AGAIN', message: 'Too many streams are open.' });
    }
    const stopped = new AbortController();
    this.#open.add(stopped);
    response.once('close', () => stopped.abort());
    response.once('error', () => stopped.abort());
    try {
      await work(stopped.signal);
    } finally {
      this.#open.delete(stopped);
    }
  }

  stop(): void {
    for (const stopped of this.#open) stopped.abort();
  }
}

/** Begins a stream that shows every `heartbeatMs` that it is still there; gives back what ends the showing. */
export function beginStream(response: ServerResponse, heartbeatMs: number): () => void {
  response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' });
  response.write(RETRY);
  const heartbeat = setInterval(() => response.write(HEARTBEAT), heartbeatMs);
  return () => clearInterval(heartbeat);
}

/** Tells a browser not to come back. */
export function endForGood(response: ServerResponse): void {
  response.writeHead(204).end();
}

/** Whether the client took what waits, within `msMax`. */
export async function drained(response: ServerResponse, signal: AbortSignal, msMax: number): Promise<boolean> {
  try {
    await once(response, 'drain', { signal: AbortSignal.any([signal, AbortSignal.timeout(msMax)]) });
    return true;
  } catch {
    return false;
  }
}
