import { setTimeout as sleep } from 'node:timers/promises';
import type { StoredMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { doubledMs } from '#libs/backoff';
import { firstStored, lastStored, storedPage } from '#libs/messaging';
import { LoadError } from './errors.js';

const READ_ATTEMPTS_MAX = 8;
const READ_WAIT = { msMin: 200, msMax: 2_000 };

/** Reads the messages of a subject or filter of one stream, in order. */
export class StoredMessages {
  readonly #nc: NatsConnection;
  readonly #stream: string;

  constructor(nc: NatsConnection, stream: string) {
    this.#nc = nc;
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
  firstAfterOnce(filter: string, after: number): Promise<StoredMsg | null> {
    return firstStored(this.#nc, { stream: this.#stream, filter, after });
  }

  /** Stream sequence of the last message, from the leader; 0 for none. */
  endsAt(filter: string): Promise<number> {
    return this.#persistently(filter, () => lastStored(this.#nc, this.#stream, filter));
  }

  /** Pages until nothing is behind one. A page that fails is left to the leader: what it brought until then is in order. */
  async #readDirect(filter: string, after: number, messages: StoredMsg[]): Promise<void> {
    for (let pending = 1; pending > 0;) {
      const page = await storedPage(this.#nc, { stream: this.#stream, filter, after: messages.at(-1)?.seq ?? after });
      messages.push(...page.messages);
      pending = page.failure === undefined ? page.pending : 0;
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
