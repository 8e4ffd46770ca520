import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { STREAMS, subjects, type RunId } from '#proto';
import { RefusedError, type OpenAnswers } from '../http/index.js';
import { HEARTBEAT, RETRY, SSE_LIMITS, type SseLimits } from './sse.js';

export interface SseParts {
  readonly nc: NatsConnection;
  readonly answers: OpenAnswers;
  readonly limits?: SseLimits;
}

/** The open streams of one kind: ended when their client goes and when the service stops. */
export abstract class SseResponses<Of> {
  protected readonly nc: NatsConnection;
  protected readonly limits: SseLimits;
  readonly #answers: OpenAnswers;
  readonly #open = new Set<AbortController>();

  constructor({ nc, answers, limits = SSE_LIMITS }: SseParts) {
    this.nc = nc;
    this.limits = limits;
    this.#answers = answers;
  }

  /**
   * Returns when what is streamed has ended, the client went, was too slow, or the service stops. Throws RefusedError.
   */
  async serve(of: Of, response: ServerResponse): Promise<void> {
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

  /** Writes; whether the client takes so much that nothing has to wait for it. */
  protected write(response: ServerResponse, text: string): boolean {
    response.write(text);
    this.#answers.bound();
    return response.writableLength <= this.limits.bufferBytesMax;
  }

  /** Throws RefusedError when RUNS holds no such run. */
  protected async mustBeKnown(runId: RunId): Promise<void> {
    const manager = await jetstreamManager(this.nc, { checkAPI: false });
    const last = await manager.streams.getMessage(STREAMS.RUNS.name, { last_by_subj: subjects.run(runId) });
    if (last === null) throw new RefusedError({ code: 'NOT_FOUND', message: `There is no run ${runId}.` });
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
