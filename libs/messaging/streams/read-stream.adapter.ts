import type { StoredMsg } from '@nats-io/jetstream';
import { headers as noHeaders, type NatsConnection } from '@nats-io/transport-node';
import { ConnectionWatch } from '../connection/index.js';
import { firstStored, storedPage, type PageQuery } from './stored-page.adapter.js';
import { hearTold, type Hearing, type ToldMessage } from './told.adapter.js';

/** A reader that hears nothing looks all the same: between the servers of a cluster a word may be lost. */
const LOOK_MS = 5_000;

export type ReadMessage = Pick<StoredMsg, 'seq' | 'subject' | 'header' | 'data'>;

export interface ReadPage {
  /** In order, without gap or repetition; none when there was nothing to read yet. */
  readonly messages: readonly ReadMessage[];
  /** Messages on the subjects that are behind these: 0 means that the reader has caught up. */
  readonly pending: number;
}

/**
 * Reads a stream in order, first what is there, then what comes, until the signal. It makes no consumer: it reads pages, and
 * subscribes to what the server republishes, which only says that it is time to read on.
 *
 *   listen ──► page ──► give it out ──more behind it, or told of more──► page
 *                            └──caught up──► wait ──told, connected again, LOOK_MS──► page
 *
 * Where the content comes with the word, and it is of the very next messages, that is the page: a reader who is a little late asks nobody.
 * The first page is given out when it is empty, too. One page at a time is in memory, however slow the reader is. Throws what a page failed
 * with, and that this user may not listen: the caller goes on behind the last message it got.
 */
export async function* readStream(
  nc: NatsConnection,
  { after, ...query }: PageQuery,
  signal?: AbortSignal,
): AsyncGenerator<ReadPage, void, undefined> {
  const news = new News(nc, query.filter, signal);
  try {
    await news.begun();
    let last = after;
    for (let isFirst = true; !news.isOver; isFirst = false) {
      const told = news.told;
      const next = isFirst ? undefined : news.nextAfter(last, query.messagesMax);
      const page: FoundPage = next ?? (await pageOrTold(nc, { ...query, after: last }, told));
      if (news.isOver) return;
      const { messages, pending } = page;
      const isBroken = page.isBroken === true;
      last = messages.at(-1)?.seq ?? last;
      if (isFirst || messages.length > 0) yield { messages, pending };
      const isMoreKnown = isBroken || pending > 0 || (messages.length > 0 && news.told > last);
      if (!isMoreKnown) await news.since(Math.max(told, last));
    }
  } finally {
    news.end();
  }
}

interface FoundPage extends ReadPage {
  /** It ended before its end: what was told of meanwhile may have been missed. */
  readonly isBroken?: boolean;
}

/** The next page; where the server told of a message that the page does not have, the leader is asked for it. */
async function pageOrTold(nc: NatsConnection, query: PageQuery, told: number): Promise<FoundPage> {
  const { messages, pending, failure } = await storedPage(nc, query);
  // What came in order is given out, with what the server said to be behind it; the next page is read at once, or fails again.
  if (failure !== undefined && messages.length === 0) throw failure;
  if (failure !== undefined) return { messages, pending, isBroken: true };
  if (messages.length > 0 || told <= query.after) return { messages, pending };
  const first = await firstStored(nc, query);
  return first === null ? { messages, pending: 0 } : { messages: [first], pending: Math.max(told - first.seq, 0) };
}

/** What the server tells of new messages on some subjects. */
class News {
  #told = 0;
  #denied: Error | undefined;
  #wake = Promise.withResolvers<void>();
  readonly #nc: NatsConnection;
  readonly #isOneSubject: boolean;
  readonly #hearing: Hearing;
  readonly #ended = new AbortController();

  constructor(nc: NatsConnection, filter: string, signal: AbortSignal | undefined) {
    this.#nc = nc;
    this.#isOneSubject = !/[*>]/u.test(filter);
    const end = (): void => this.end();
    this.#hearing = hearTold(nc, filter, {
      hear: ({ seq }) => {
        this.#told = Math.max(this.#told, seq);
        this.#wake.resolve();
      },
      deny: (error) => {
        this.#denied = error;
        this.#wake.resolve();
      },
      end,
    });
    this.#ended.signal.addEventListener('abort', () => {
      this.#wake.resolve();
      signal?.removeEventListener('abort', end);
      this.#hearing.stop();
    });
    signal?.addEventListener('abort', end);
    if (signal?.aborted === true) this.end();
  }

  /** Resolves when everything that is stored from now on will be told; throws when this user may not hear it. */
  async begun(): Promise<void> {
    if (this.isOver) return;
    await ConnectionWatch.of(this.#nc).request(() => this.#nc.flush());
    void this.told;
  }

  /** The highest stream sequence that was told of; 0 for none. */
  get told(): number {
    if (this.#denied !== undefined) throw this.#denied;
    return this.#told;
  }

  /** The messages behind this one, as far as they came whole and nothing on these subjects is between; none: they are to be asked for. */
  nextAfter(sequence: number, messagesMax: number | undefined): ReadPage | undefined {
    const messages = this.#hearing.recent.after(sequence, this.#isOneSubject).slice(0, messagesMax).map(readOf);
    const last = messages.at(-1)?.seq;
    return last === undefined ? undefined : { messages, pending: Math.max(0, this.#told - last) };
  }

  /** No more is to be read: the reader stopped, or the connection is closed. */
  get isOver(): boolean {
    return this.#ended.signal.aborted;
  }

  /** Resolves when it is time to read on: more was told of than this, it may have been missed, or it is over. */
  async since(told: number): Promise<void> {
    this.#wake = Promise.withResolvers();
    if (this.told > told || this.isOver) return;
    const connection = ConnectionWatch.of(this.#nc);
    const look = setTimeout(this.#wake.resolve, LOOK_MS);
    const deafen = connection.onBreak(this.#wake.resolve);
    try {
      await this.#wake.promise;
      await connection.back(this.#ended.signal);
    } finally {
      clearTimeout(look);
      deafen();
    }
  }

  end(): void {
    this.#ended.abort();
  }
}

function readOf({ seq, subject, message: { headers: header = noHeaders(), data } }: ToldMessage): ReadMessage {
  return { seq, subject, header, data };
}
