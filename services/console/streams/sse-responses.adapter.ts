import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { NatsConnection } from '@nats-io/transport-node';
import { RefusedError } from '../http/index.js';
import { HEARTBEAT, RETRY, SSE_LIMITS, type SseLimits } from './sse.js';

/** The open streams of one kind: counted, ended when their client goes and when the service stops. */
export abstract class SseResponses<Of> {
  protected readonly nc: NatsConnection;
  protected readonly limits: SseLimits;
  readonly #open = new Set<AbortController>();

  constructor({ nc, limits = SSE_LIMITS }: { readonly nc: NatsConnection; readonly limits?: SseLimits }) {
    this.nc = nc;
    this.limits = limits;
  }

  /**
   * Returns when what is streamed has ended, the client went, was too slow, or the service stops. Throws RefusedError, also when
   * too many are open.
   */
  async serve(of: Of, response: ServerResponse): Promise<void> {
    if (this.#open.size >= this.limits.streamsMax) {
      throw new RefusedError({ code: 'TRY_AGAIN', message: 'Too many streams are open.' });
    }
    const stopped = new AbortController();
    this.#open.add(stopped);
    response.once('close', () => stopped.abort());
    response.once('error', () => stopped.abort());
    try {
      await this.follow(of, response, stopped.signal);
    } finally {
      this.#open.delete(stopped);
    }
  }

  end(): void {
    for (const stopped of this.#open) stopped.abort();
  }

  /** Does the work of one stream. */
  protected abstract follow(of: Of, response: ServerResponse, signal: AbortSignal): Promise<void>;
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
