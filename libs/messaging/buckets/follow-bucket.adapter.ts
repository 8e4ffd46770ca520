import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream } from '@nats-io/jetstream';
import { Kvm, type KvEntry, type KvWatchEntry } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import type { z } from 'zod';
import { ConnectionWatch } from '../connection/index.js';
import { parseJson } from '#proto';

const WATCH_AGAIN_MS = 500;
/** A watch that has not read everything by then never will: what it waited for may have expired. */
const READ_MS_MAX = 30_000;

/** One look at a whole bucket, and at what changes from then on. */
export interface BucketLook {
  /** The newest value of a key, or that it is gone; at first what is there, in the order in which it was written. */
  readonly take: (entry: KvWatchEntry) => void;
  /** Everything that was there is taken; called again after changes. */
  readonly complete?: () => void;
}

interface FollowOptions {
  readonly bucket: string;
  /** Called for every watch: each begins with the whole bucket. */
  readonly look: () => BucketLook;
  /** Called with what ended a watch; the next one begins by itself. */
  readonly report: (error: unknown) => void;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Entries come without their values. */
  readonly headersOnly?: boolean;
}

export interface Following {
  /** Resolves when everything in the bucket is taken for the first time; rejects when the first watch ends before that. */
  readonly loaded: Promise<void>;
  /** False from when the connection breaks or the watch ends until everything is read anew. */
  readonly isCurrent: () => boolean;
  /** Resolves when it has ended, after the signal or the connection. */
  readonly over: Promise<void>;
}

/**
 * Reads a whole bucket and then what changes, until the signal, over restarts of the server and while there is no bucket yet.
 *
 *   look() ──take each──► complete ──take──► complete ──connection breaks, watch ends──► it is back ──► look()
 *
 * A key that expired while nobody watched is not told of: it is missing in the next look. The one place that knows how a bucket is
 * followed. It makes a push consumer; by republishing a bucket's stream none would be needed, which existing streams do not do.
 */
export function followBucket(nc: NatsConnection, options: FollowOptions): Following {
  const follower = new Follower(nc, options);
  const { promise: loaded, resolve, reject } = Promise.withResolvers<void>();
  const first = follower.watch(resolve);
  first.then(() => reject(new Error(`the watch of ${options.bucket} ended before everything was read`)), reject);
  loaded.catch(() => undefined); // it is reported, too
  return { loaded, isCurrent: () => follower.isCurrent, over: follower.follow(first) };
}

/** What a key holds; undefined for one that is gone, and for what cannot be read. */
export function entryValue<T>(
  { operation, value }: Pick<KvEntry, 'operation' | 'value'>,
  schema: z.ZodType<T>,
): T | undefined {
  return operation === 'PUT' ? schema.safeParse(parseJson(value)).data : undefined;
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
    const { bucket: name, look, signal: outer, headersOnly = false } = this.#options;
    const [broken, late] = [new AbortController(), new AbortController()];
    const signal = AbortSignal.any([outer, broken.signal, late.signal]);
    const deafen = this.#connection.onBreak(() => {
      this.isCurrent = false;
      broken.abort();
    });
    const limit = setTimeout(() => late.abort(), READ_MS_MAX);
    try {
      const bucket = await new Kvm(jetstream(this.#nc, { checkAPI: false })).open(name);
      const entries = await bucket.watch({ headers_only: headersOnly });
      signal.addEventListener('abort', () => entries.stop());
      if (signal.aborted) return entries.stop();
      const { take, complete } = look();
      const done = (): void => {
        if (signal.aborted) return;
        clearTimeout(limit);
        complete?.();
        this.isCurrent = true;
        loaded();
      };
      if ((await bucket.status()).values === 0) done();
      for await (const entry of entries) {
        take(entry);
        if (entry.delta === 0) done();
      }
      if (late.signal.aborted) throw new Error(`${name} could not be read within ${READ_MS_MAX} ms`);
    } finally {
      clearTimeout(limit);
      deafen();
      broken.abort();
    }
  }

  #hasEnded(): boolean {
    return this.#options.signal.aborted || this.#nc.isClosed();
  }
}
