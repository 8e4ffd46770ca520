import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { headers, type NatsConnection } from '@nats-io/transport-node';
import { FeedMessage, STREAMS, subjects, parseJson, type RunEventType } from '#proto';
import { parsePosition, wholeMessage, type FeedEntry, type FeedPosition } from './feed-message.js';
import { isWrongSequence, storedPage } from '#libs/messaging';

const PUBLISH_TIMEOUT_MS = 5_000;

/** Where FEED ends, and which event of RUNS is its last; undefined when FEED holds nothing. */
export interface FeedEnd {
  readonly sequence: number;
  readonly position: FeedPosition | undefined;
}

/** `stored`: how many of the entries are in FEED now, from the first on. `conflict`: FEED did not end where it was believed to. */
export interface Published {
  readonly stored: number;
  readonly problem?: 'conflict' | 'duplicate';
}

/** FEED as its only writers see it: every append names the sequence that FEED has to end at. */
export class FeedStream {
  readonly #nc: NatsConnection;

  constructor(nc: NatsConnection) {
    this.#nc = nc;
  }

  /**
   * Sequence and position have to be of the same message: all that is pipelined counts on from this pair. A message that
   * comes between the two reads is the last one then; one that was deleted leaves a sequence without a message.
   */
  async end(): Promise<FeedEnd> {
    const manager = await jetstreamManager(this.#nc, { checkAPI: false });
    const { state } = await manager.streams.info(STREAMS.FEED.name);
    const last = await manager.streams.getMessage(STREAMS.FEED.name, { last_by_subj: subjects.anyFeed });
    if (last === null) return { sequence: state.last_seq, position: undefined };
    const position = parsePosition(FeedMessage.parse(parseJson(last.data)).orrerysource);
    if (position === undefined) throw new Error(`message ${last.seq} of FEED does not say where it came from`);
    return { sequence: Math.max(state.last_seq, last.seq), position };
  }

  /**
   * All at once, in order. Each entry expects the sequence of its predecessor in FEED. FEED holds the events in their one
   * order, so what stands at that sequence is the predecessor, no matter which replica wrote it, as long as `end` and the first entry fit.
   */
  async publish(entries: readonly FeedEntry[], end: number): Promise<Published> {
    const js = jetstream(this.#nc);
    const head = headers();
    head.set('Content-Type', 'application/cloudevents+json');
    const acks = await Promise.allSettled(
      entries.map(({ message, owner }, index) => {
        const type = message.type.slice('orrery.'.length) as RunEventType;
        return js.publish(subjects.feed(message.orreryrunid, type, owner), JSON.stringify(message), {
          msgID: message.id,
          headers: head,
          expect: { lastSequence: end + index },
          timeout: PUBLISH_TIMEOUT_MS,
        });
      }),
    );
    for (const [index, ack] of acks.entries()) {
      if (ack.status === 'rejected') {
        if (isWrongSequence(ack.reason)) return { stored: index, problem: 'conflict' };
        throw ack.reason;
      }
      if (ack.value.duplicate) return { stored: index + 1, problem: 'duplicate' };
    }
    return { stored: entries.length };
  }

  /** Just before the first message of RUNS that is younger than what FEED keeps. */
  async beforeYoungest(now: number): Promise<FeedPosition> {
    const manager = await jetstreamManager(this.#nc, { checkAPI: false });
    const { state } = await manager.streams.info(STREAMS.RUNS.name);
    const after = new Date(now - STREAMS.FEED.ageMsMax);
    const { messages, failure } = await storedPage(this.#nc, { stream: 'RUNS', filter: subjects.anyRun, after });
    if (failure !== undefined) throw failure;
    return wholeMessage((messages[0]?.seq ?? state.last_seq + 1) - 1);
  }
}
