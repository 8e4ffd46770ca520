import { setTimeout as sleep } from 'node:timers/promises';
import { jetstreamManager, type JetStreamManager, type SeqMsgRequest, type StoredMsg } from '@nats-io/jetstream';
import type { NatsConnection, QueuedIterator } from '@nats-io/transport-node';
import { doubledMs } from '#libs/backoff';
import { ConnectionWatch } from '#libs/messaging';
import { LoadError } from './errors.js';

/** Messages asked for at once; a run is a page or two. */
const PAGE_MESSAGES = 256;
/** A page that has not ended after this is given up: the server died in the middle of it. */
const PAGE_TIMEOUT_MS = 5_000;
const READ_ATTEMPTS_MAX = 8;
const READ_WAIT = { msMin: 200, msMax: 2_000 };

/** Reads the messages of a subject or filter of one stream, in order. */
export class StoredMessages {
  readonly #nc: NatsConnection;
  readonly #jsm: Promise<JetStreamManager>;
  readonly #connection: ConnectionWatch;
  readonly #stream: string;

  constructor(nc: NatsConnection, stream: string) {
    this.#nc = nc;
    this.#connection = ConnectionWatch.of(nc);
    this.#jsm = jetstreamManager(nc, { checkAPI: false });
    this.#stream = stream;
  }

  /**
   * Everything after stream sequence `after`. The bulk comes by direct get, which any replica may answer and which may
   * therefore lack the newest messages; the leader has the last word on where the end is.
   */
  async after(filter: string, after: number): Promise<StoredMsg[]> {
    const messages: StoredMsg[] = [];
    await this.#readDirect(filter, after, messages);
    for (;;) {
      const next = await this.firstAfter(filter, messages.at(-1)?.seq ?? after);
      if (next === null) return messages;
      messages.push(next);
    }
  }

  /** The first message after stream sequence `after`, from the leader. */
  firstAfter(filter: string, after: number): Promise<StoredMsg | null> {
    return this.#persistently(filter, () => this.firstAfterOnce(filter, after));
  }

  /** The same with one try: for callers that repeat something else, too. */
  async firstAfterOnce(filter: string, after: number): Promise<StoredMsg | null> {
    const jsm = await this.#jsm;
    const query: SeqMsgRequest & { next_by_subj: string } = { seq: after + 1, next_by_subj: filter };
    return this.#connection.request(() => jsm.streams.getMessage(this.#stream, query));
  }

  /** Stream sequence of the last message, from the leader; 0 for none. */
  async endsAt(filter: string): Promise<number> {
    const jsm = await this.#jsm;
    const last = await this.#persistently(filter, () =>
      this.#connection.request(() => jsm.streams.getMessage(this.#stream, { last_by_subj: filter })),
    );
    return last?.seq ?? 0;
  }

  /** Pages until one is not full. A page that fails is left to the leader: what it brought until then is in order. */
  async #readDirect(filter: string, after: number, messages: StoredMsg[]): Promise<void> {
    for (;;) {
      const before = messages.length;
      const complete = await this.#readPage(filter, messages.at(-1)?.seq ?? after, messages);
      if (!complete || messages.length - before < PAGE_MESSAGES) return;
    }
  }

  /** With a callback, because only then the client gives up its subscription at the end of the batch. */
  async #readPage(filter: string, after: number, messages: StoredMsg[]): Promise<boolean> {
    const jsm = await this.#jsm;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    let batch: QueuedIterator<StoredMsg> | undefined;
    const give = (reason: string) => batch?.stop(new Error(reason));
    const timer = setTimeout(() => give('the page did not end'), PAGE_TIMEOUT_MS);
    try {
      return await this.#connection.request(async () => {
        batch = await jsm.direct.getBatch(this.#stream, {
          seq: after + 1,
          next_by_subj: filter,
          batch: PAGE_MESSAGES,
          callback: (done, message) => {
            if (done === null) messages.push(message);
            else resolve(done.err === undefined);
          },
        });
        return promise;
      });
    } catch {
      give('the connection broke');
      return false;
    } finally {
      clearTimeout(timer);
    }
  }

  async #persistently<T>(filter: string, read: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await read();
      } catch (cause) {
        if (attempt === READ_ATTEMPTS_MAX || this.#nc.isClosed()) throw new LoadError(filter, { cause });
        await sleep(doubledMs(READ_WAIT, attempt));
      }
    }
  }
}
