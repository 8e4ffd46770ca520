import { jetstreamManager, type JetStreamManager, type SeqMsgRequest, type StoredMsg } from '@nats-io/jetstream';
import type { NatsConnection, QueuedIterator } from '@nats-io/transport-node';
import { ConnectionWatch } from '../connection/index.js';

/** Messages asked for at once; a run is a page or two. */
const PAGE_MESSAGES = 256;
/** A page ends behind the message that reaches this: what a slow reader has in memory at most. */
const PAGE_BYTES = 4 * 1024 * 1024;
/** A page that has not ended after this is given up: the server died in the middle of it. */
const PAGE_TIMEOUT_MS = 5_000;
const NOT_FOUND = 404;

/** Which messages: of a stream, on these subjects, behind a stream sequence. */
export interface PageQuery {
  readonly stream: string;
  /** One subject, with wildcards or without. */
  readonly filter: string;
  readonly after: number;
  /** How many at once; 256 when absent. */
  readonly messagesMax?: number | undefined;
}

export interface StoredPage {
  /** In order. */
  readonly messages: readonly StoredMsg[];
  /** Messages on these subjects that are behind the page. */
  readonly pending: number;
  /** What ended the page before its end; what it brought until then is in order. */
  readonly failure?: unknown;
}

const managers = new WeakMap<NatsConnection, Promise<JetStreamManager>>();

/** One per connection; made anew when it could not be made. */
export function managerOf(nc: NatsConnection): Promise<JetStreamManager> {
  const known = managers.get(nc);
  if (known !== undefined) return known;
  const made = jetstreamManager(nc, { checkAPI: false });
  managers.set(nc, made);
  made.catch(() => managers.delete(nc));
  return made;
}

/**
 * The next messages by direct get: without a consumer, so with no more right than to read the stream. Any replica may answer, and
 * may lack the newest messages; `firstStored` has the last word on what is there. After a Date: what was stored from then on.
 */
export async function storedPage(
  nc: NatsConnection,
  { stream, filter, after, messagesMax = PAGE_MESSAGES }: Omit<PageQuery, 'after'> & { readonly after: number | Date },
): Promise<StoredPage> {
  const jsm = await managerOf(nc);
  const messages: StoredMsg[] = [];
  const { promise, resolve } = Promise.withResolvers<unknown>();
  let batch: QueuedIterator<StoredMsg> | undefined;
  const give = (reason: string): void => batch?.stop(new Error(reason));
  const timer = setTimeout(() => give(`${stream} did not answer`), PAGE_TIMEOUT_MS);
  let failure: unknown;
  try {
    failure = await ConnectionWatch.of(nc).request(async () => {
      const from = typeof after === 'number' ? { seq: after + 1 } : { start_time: after };
      const query = { ...from, next_by_subj: filter, batch: messagesMax, max_bytes: PAGE_BYTES };
      batch = await jsm.direct.getBatch(stream, {
        ...query,
        // With a callback, because only then the client gives up its subscription at the end of the batch.
        callback: (done, message) => {
          if (done === null) messages.push(message);
          else resolve(done.err === undefined || isNothing(done.err) ? undefined : done.err);
        },
      });
      return promise;
    });
  } catch (error) {
    give('the connection broke');
    failure = error;
  } finally {
    clearTimeout(timer);
  }
  const pending = messages.at(-1)?.pending ?? 0;
  return failure === undefined ? { messages, pending } : { messages, pending, failure };
}

/** The first of the messages, from the leader; null when there is none. */
export async function firstStored(nc: NatsConnection, { stream, filter, after }: PageQuery): Promise<StoredMsg | null> {
  const jsm = await managerOf(nc);
  const query: SeqMsgRequest & { next_by_subj: string } = { seq: after + 1, next_by_subj: filter };
  return ConnectionWatch.of(nc).request(() => jsm.streams.getMessage(stream, query));
}

/** Stream sequence of the last message on these subjects, from the leader; 0 for none. */
export async function lastStored(nc: NatsConnection, stream: string, filter: string): Promise<number> {
  const jsm = await managerOf(nc);
  const query = { last_by_subj: filter };
  const last = await ConnectionWatch.of(nc).request(() => jsm.streams.getMessage(stream, query));
  return last?.seq ?? 0;
}

/** The server says so with a status of its own when there is no message behind a sequence. */
function isNothing(error: Error): boolean {
  return 'code' in error && error.code === NOT_FOUND;
}
