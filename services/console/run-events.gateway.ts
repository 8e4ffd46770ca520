import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { FeedMessage, parseWith, STREAMS, subjects, type RunId } from '#proto';
import { readCommits, type StreamEntry } from '#libs/event-log';
import { RefusedError } from './refusal.js';
import { HEARTBEAT, isEnd, RETRY, sseEvent } from './sse.js';

export const SSE_LIMITS = {
  heartbeatMs: 15_000,
  streamsMax: 200,
  /** What may wait to be sent to one client. */
  bufferBytesMax: 1024 * 1024,
  /** A client that does not take what waits within this is dropped; it comes back with the id it saw last. */
  drainMsMax: 10_000,
} as const;

interface Found {
  readonly sequence: number;
  readonly message: FeedMessage;
}

export interface RunEventsOptions {
  readonly nc: NatsConnection;
  readonly limits?: { readonly [K in keyof typeof SSE_LIMITS]: number };
}

/** Events of one run from FEED as Server-Sent Events, to its end. */
export class RunEvents {
  private readonly nc: NatsConnection;
  private readonly limits: { readonly [K in keyof typeof SSE_LIMITS]: number };
  private readonly open = new Set<AbortController>();

  constructor({ nc, limits = SSE_LIMITS }: RunEventsOptions) {
    this.nc = nc;
    this.limits = limits;
  }

  /** Returns when the run ended, the client went, was too slow, or the service stops. */
  async serve(runId: RunId, lastEventId: string | undefined, response: ServerResponse): Promise<void> {
    if (this.open.size >= this.limits.streamsMax) {
      throw new RefusedError({ code: 'TRY_AGAIN', message: 'Too many streams are open.' });
    }
    const stopped = new AbortController();
    this.open.add(stopped);
    response.once('close', () => stopped.abort());
    response.once('error', () => stopped.abort());
    try {
      const from = lastEventId === undefined ? undefined : await this.find(runId, lastEventId, stopped.signal);
      if (from !== undefined && isEnd(from.message)) {
        // Tells a browser not to come back.
        response.writeHead(204).end();
        return;
      }
      await this.stream(runId, from?.sequence ?? 0, response, stopped.signal);
    } finally {
      this.open.delete(stopped);
    }
  }

  onModuleDestroy(): void {
    for (const stopped of this.open) stopped.abort();
  }

  private async stream(
    runId: RunId,
    afterSequence: number,
    response: ServerResponse,
    signal: AbortSignal,
  ): Promise<void> {
    response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' });
    response.write(RETRY);
    const heartbeat = setInterval(() => response.write(HEARTBEAT), this.limits.heartbeatMs);
    try {
      for await (const entry of this.read(runId, afterSequence, signal)) {
        const message = parse(entry);
        if (message === undefined) continue;
        response.write(sseEvent(message));
        if (isEnd(message)) break;
        if (response.writableLength > this.limits.bufferBytesMax && !(await this.drained(response, signal))) {
          response.destroy();
          return;
        }
      }
      response.end();
    } finally {
      clearInterval(heartbeat);
    }
  }

  private async drained(response: ServerResponse, signal: AbortSignal): Promise<boolean> {
    const late = AbortSignal.any([signal, AbortSignal.timeout(this.limits.drainMsMax)]);
    try {
      await once(response, 'drain', { signal: late });
      return true;
    } catch {
      return false;
    }
  }

  /** The message that carried this event; undefined when FEED does not hold it, then everything is sent. */
  private async find(runId: RunId, eventId: string, signal: AbortSignal): Promise<Found | undefined> {
    const manager = await jetstreamManager(this.nc, { checkAPI: false });
    const last = await manager.streams.getMessage(STREAMS.FEED.name, { last_by_subj: subjects.feedOfRun(runId) });
    if (last === null) return undefined;
    for await (const entry of this.read(runId, 0, signal)) {
      const message = parse(entry);
      if (message?.id === eventId) return { sequence: entry.sequence, message };
      if (entry.sequence >= last.seq) return undefined;
    }
    return undefined;
  }

  private read(runId: RunId, afterSequence: number, signal: AbortSignal): AsyncIterable<StreamEntry> {
    const filters = [subjects.feedOfRun(runId)];
    return readCommits(this.nc, 'FEED', { afterSequence, filters, signal });
  }
}

function parse({ data }: StreamEntry): FeedMessage | undefined {
  const parsed = parseWith(FeedMessage, JSON.parse(new TextDecoder().decode(data)));
  return parsed.ok ? parsed.value : undefined;
}
