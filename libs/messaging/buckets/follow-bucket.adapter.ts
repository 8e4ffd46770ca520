import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import type { KvWatchEntry } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { ConnectionWatch } from '../connection/index.js';

const WATCH_AGAIN_MS = 500;
/** A watch that has not read everything by then never will: what it waited for may have expired. */
const READ_MS_MAX = 30_000;

/** One look at a whole bucket, and at what changes from then on. */
export interface BucketLook {
  readonly take: (entry: KvWatchEntry) => void;
  /** Everything that was there is taken; called again after changes. */
  readonly complete: () => void;
}

interface FollowOptions {
  readonly bucket: string;
  /** Called for every watch: each begins with the whole bucket. */
  readonly look: () => BucketLook;
  readonly report: (error: unknown) => void;
  readonly signal: AbortSignal;
}

export interface Following {
  /** False from when the connection breaks or the watch ends until everything is read anew. */
  isCurrent(): boolean;
  /** Resolves when it has ended, after the signal or the connection. */
  readonly over: Promise<void>;
}

/** Resolves when everything in the bucket is taken, then follows it, also over lost connections; throws while it cannot be read. */
export async function followBucket(nc: NatsConnection, options: FollowOptions): Promise<Following> {
  const follower = new Follower(nc, options);
  const { promise: loaded, resolve } = Promise.withResolvers<void>();
  const first = follower.watch(resolve);
  const broken = first.then(() => {
    throw new Error(`the watch of ${options.bucket} ended before everything was read`);
  });
  await Promise.race([loaded, broken]);
  return { isCurrent: () => follower.isCurrent, over: follower.follow(first) };
}

class Follower {
  isCurrent = false;
  readonly #nc: NatsConnection;
  readonly #options: FollowOptions;
  readonly #connection: ConnectionWatch;

  constructor(nc: NatsConnection, options: FollowOptions) {
    this.#nc = nc;
    this.#options = options;
    this.#connection = ConnectionWatch.of(nc);
  }

  /** Begins anew when a watch ends. */
  async follow(first: Promise<void>): Promise<void> {
    const { signal, report } = this.#options;
    let watching = first;
    while (!this.#hasEnded()) {
      await watching.catch(report);
      this.isCurrent = false;
      if (this.#connection.isConnected) await sleep(WATCH_AGAIN_MS, undefined, { signal }).catch(() => undefined);
      else await this.#connection.back(signal);
      if (!this.#hasEnded()) watching = this.watch(() => undefined);
    }
    await watching.catch(() => undefined);
  }

  /**
   * One look at the whole bucket and at what changes then. Ends when the connection breaks: the client would go on with this watch by
   * itself, but when the server has lost it, that takes a minute and more.
   */
  async watch(loaded: () => void): Promise<void> {
    const { bucket: name, look, signal } = this.#options;
    const ended = new AbortController();
    const end = (): void => ended.abort();
    let isLate = false;
    const broke = this.#connection.onBreak(() => {
      this.isCurrent = false;
      end();
    });
    const late = setTimeout(() => {
      isLate = true;
      end();
    }, READ_MS_MAX);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
    try {
      const bucket = await new Kvm(jetstream(this.#nc, { checkAPI: false })).open(name);
      const entries = await bucket.watch();
      ended.signal.addEventListener('abort', () => entries.stop());
      if (ended.signal.aborted) entries.stop();
      const { take, complete } = look();
      const done = (): void => {
        if (ended.signal.aborted) return;
        clearTimeout(late);
        complete();
        this.isCurrent = true;
        loaded();
      };
      if ((await bucket.status()).values === 0) done();
      for await (const entry of entries) {
        take(entry);
        if (entry.delta === 0) done();
      }
      if (isLate) throw new Error(`${name} could not be read within ${READ_MS_MAX} ms`);
    } finally {
      clearTimeout(late);
      broke();
      signal.removeEventListener('abort', end);
      end();
    }
  }

  #hasEnded(): boolean {
    return this.#options.signal.aborted || this.#nc.isClosed();
  }
}
