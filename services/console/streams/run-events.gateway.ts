import type { ServerResponse } from 'node:http';
import { jetstreamManager } from '@nats-io/jetstream';
import { FeedMessage, parseWith, STREAMS, subjects, type RunId } from '#proto';
import { readCommits, type StreamEntry } from '#libs/event-log';
import { beginStream, drained, endForGood, SseResponses } from './sse-responses.adapter.js';
import { isEnd, sseEvent } from './sse.js';

interface Found {
  readonly sequence: number;
  readonly message: FeedMessage;
}

interface EventsOf {
  readonly runId: RunId;
  /** Only what came after it, where FEED still holds it. */
  readonly lastEventId: string | undefined;
}

/** Events of one run from FEED as Server-Sent Events, to its end. A client that is dropped comes back with the id it saw last. */
export class RunEvents extends SseResponses<EventsOf> {
  protected async follow(
    { runId, lastEventId }: EventsOf,
    response: ServerResponse,
    signal: AbortSignal,
  ): Promise<void> {
    await this.mustBeKnown(runId);
    const from = lastEventId === undefined ? undefined : await this.#find(runId, lastEventId, signal);
    if (from !== undefined && isEnd(from.message)) endForGood(response);
    else await this.#stream(runId, from?.sequence ?? 0, response, signal);
  }

  async #stream(runId: RunId, afterSequence: number, response: ServerResponse, signal: AbortSignal): Promise<void> {
    const quiet = beginStream(response, this.limits.heartbeatMs);
    try {
      for await (const entry of this.#read(runId, afterSequence, signal)) {
        const message = parse(entry);
        if (message === undefined) continue;
        const goesOn = this.write(response, sseEvent(message));
        if (isEnd(message)) break;
        if (goesOn || (await drained(response, signal, this.limits.drainMsMax))) continue;
        response.destroy();
        return;
      }
      response.end();
    } finally {
      quiet();
    }
  }

  /** The message that carried this event; undefined when FEED does not hold it, then everything is sent. */
  async #find(runId: RunId, eventId: string, signal: AbortSignal): Promise<Found | undefined> {
    const manager = await jetstreamManager(this.nc, { checkAPI: false });
    const last = await manager.streams.getMessage(STREAMS.FEED.name, { last_by_subj: subjects.feedOfRun(runId) });
    if (last === null) return undefined;
    for await (const entry of this.#read(runId, 0, signal)) {
      const message = parse(entry);
      if (message?.id === eventId) return { sequence: entry.sequence, message };
      if (entry.sequence >= last.seq) return undefined;
    }
    return undefined;
  }

  #read(runId: RunId, afterSequence: number, signal: AbortSignal): AsyncIterable<StreamEntry> {
    const filter = subjects.feedOfRun(runId);
    const { readAheadMessages } = this.limits;
    return readCommits(this.nc, 'FEED', { afterSequence, filter, signal, readAheadMessages });
  }
}

function parse({ data }: StreamEntry): FeedMessage | undefined {
  const parsed = parseWith(FeedMessage, JSON.parse(new TextDecoder().decode(data)));
  return parsed.ok ? parsed.value : undefined;
}
