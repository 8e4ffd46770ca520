import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KvEntry } from '@nats-io/kv';
import type { MsgHdrs, NatsConnection } from '@nats-io/transport-node';
import type { z } from 'zod';
import { ConnectionWatch, hearingTime } from '../connection/index.js';
import { lastStored, readStream, type ReadMessage } from '../streams/index.js';
import { keysOfBucket, parseJson } from '#proto';

const LOOK_AGAIN_MS = 500;
/** Who waits for what was written a moment ago waits no longer: it is told in milliseconds, or something is wrong. */
const CATCH_UP_MS_MAX = 2_000;
/** Who takes a key out of a bucket writes it here. */
const HEADER_OPERATION = 'KV-Operation';
/** The server writes it when a key has expired. */
const HEADER_MARKER = 'Nats-Marker-Reason';

/** What was written of a key; anything but PUT says that it is gone: deleted, or expired. */
export type BucketEntry = Pick<KvEntry, 'key' | 'operation' | 'value' | 'revision'>;

/** One look at a whole bucket, and at what changes from then on. */
export interface BucketLook {
  /** The newest value of a key, or that it is gone; at first what is there, in the order in which it was written. */
  readonly take: (entry: BucketEntry) => void;
  /** Everything that was there is taken; called again after changes. */
  readonly complete?: () => void;
}

interface FollowOptions {
  readonly bucket: string;
  /** Called for every look: each begins with the whole bucket. */
  readonly look: () => BucketLook;
  /** Called with what ended a look; the next one begins by itself. */
  readonly report: (error: unknown) => void;
  /** Ends it. */
  readonly signal: AbortSignal;
}

export interface Following {
  /** Resolves when everything in the bucket is taken for the first time; rejects when the first look ends before that. */
  readonly loaded: Promise<void>;
  /** False from when the connection breaks or the look ends until everything is read anew. */
  readonly isCurrent: () => boolean;
  /** Resolves when everything is taken that was in the bucket when this was asked; after two seconds at the latest, whatever is taken by then. */
  readonly caughtUp: () => Promise<void>;
  /** Resolves when it has ended, after the signal or the connection. */
  readonly over: Promise<void>;
}

/**
 * Reads a whole bucket and then what changes, until the signal, over restarts of the server and while there is no bucket yet.
 *
 *   look() ──take each──► complete ──take──► complete ──connection breaks, a page fails──► it is back ──► look()
 *
 * A key that expired while nobody looked is not told of: it is missing in the next look. The one place that knows how a bucket is
 * followed: by reading its stream, without a consumer.
 */
export function followBucket(nc: NatsConnection, options: FollowOptions): Following {
  const follower = new Follower(nc, options);
  const { promise: loaded, resolve, reject } = Promise.withResolvers<void>();
  const first = follower.look(resolve);
  first.then(() => reject(new Error(`the look at ${options.bucket} ended before everything was read`)), reject);
  loaded.catch(() => undefined); // it is reported, too
  return {
    loaded,
    isCurrent: () => follower.isCurrent,
    caughtUp: () => follower.caughtUp(),
    over: follower.follow(first),
  };
}

/** The keys that are in a bucket now, with their newest values. */
export async function readBucket(nc: NatsConnection, bucket: string): Promise<BucketEntry[]> {
  const entries = new Map<string, BucketEntry>();
  for await (const { messages, pending } of readStream(nc, { ...streamOf(bucket), after: 0 })) {
    for (const message of messages) putNewest(entries, entryOf(bucket, message));
    if (pending === 0) break;
  }
  return [...entries.values()].filter(({ operation }) => operation === 'PUT');
}

/** What a key holds; undefined for one that is gone, and for what cannot be read. */
export function entryValue<T>(
  { operation, value }: Pick<BucketEntry, 'operation' | 'value'>,
  schema: z.ZodType<T>,
): T | undefined {
  return operation === 'PUT' ? schema.safeParse(parseJson(value)).data : undefined;
}

class Follower {
  isCurrent = false;
  /** Stream sequence of the newest message that is taken. */
  #position = 0;
  #moved = Promise.withResolvers<void>();
  readonly #nc: NatsConnection;
  readonly #options: FollowOptions;
  readonly #connection: ConnectionWatch;

  constructor(nc: NatsConnection, options: FollowOptions) {
    this.#nc = nc;
    this.#options = options;
    this.#connection = ConnectionWatch.of(nc);
  }

  /** Begins anew when a look ends. */
  async follow(first: Promise<void>): Promise<void> {
    const { signal, report } = this.#options;
    let looking = first;
    while (!this.#hasEnded()) {
      await looking.catch(report);
      this.isCurrent = false;
      if (this.#connection.isConnected) await sleep(LOOK_AGAIN_MS, undefined, { signal }).catch(() => undefined);
      else await this.#connection.back(signal);
      if (!this.#hasEnded()) looking = this.look(() => undefined);
    }
    await looking.catch(() => undefined);
  }

  async caughtUp(): Promise<void> {
    const { bucket, signal, report } = this.#options;
    const time = hearingTime(CATCH_UP_MS_MAX);
    const limit = AbortSignal.any([signal, time.over]);
    const over = once(limit, 'abort');
    const { stream, filter } = streamOf(bucket);
    try {
      const end = await Promise.race([lastStored(this.#nc, stream, filter), over]);
      const isBehind = (): boolean => typeof end === 'number' && this.#position < end && !limit.aborted;
      while (isBehind()) await Promise.race([this.#moved.promise, over]);
    } catch (error) {
      report(error);
    } finally {
      time.end();
    }
  }

  /** One look at the whole bucket and at what changes then. Ends when the connection breaks: keys may expire unseen until it is back. */
  async look(loaded: () => void): Promise<void> {
    const { bucket, look: begin, signal: outer } = this.#options;
    if (this.#hasEnded()) return;
    const broken = new AbortController();
    const deafen = this.#connection.onBreak(() => {
      this.isCurrent = false;
      broken.abort();
    });
    try {
      const signal = AbortSignal.any([outer, broken.signal]);
      const whole = new Map<string, BucketEntry>();
      let look: BucketLook | undefined;
      for await (const { messages, pending } of readStream(this.#nc, { ...streamOf(bucket), after: 0 }, signal)) {
        if (signal.aborted) return;
        const entries = messages.map((message) => entryOf(bucket, message));
        if (look === undefined) for (const entry of entries) putNewest(whole, entry);
        else for (const entry of entries) look.take(entry);
        if (pending > 0) continue;
        if (look === undefined) {
          look = begin();
          for (const entry of whole.values()) look.take(entry);
          whole.clear();
        }
        look.complete?.();
        this.isCurrent = true;
        this.#moveTo(messages.at(-1)?.seq ?? this.#position);
        loaded();
      }
    } finally {
      deafen();
      broken.abort();
    }
  }

  #moveTo(sequence: number): void {
    this.#position = sequence;
    this.#moved.resolve();
    this.#moved = Promise.withResolvers();
  }

  #hasEnded(): boolean {
    return this.#options.signal.aborted || this.#nc.isClosed();
  }
}

const streamOf = (bucket: string) => ({ stream: `KV_${bucket}`, filter: keysOfBucket(bucket) });

function entryOf(bucket: string, { subject, header, data, seq: revision }: ReadMessage): BucketEntry {
  const key = subject.slice(keysOfBucket(bucket).length - 1);
  return { key, operation: operationOf(header), value: data, revision };
}

function operationOf(header: MsgHdrs): BucketEntry['operation'] {
  if (header.get(HEADER_MARKER) !== '') return 'PURGE';
  const written = header.get(HEADER_OPERATION);
  return written === 'DEL' || written === 'PURGE' ? written : 'PUT';
}

/** In the order in which the newest were written. */
function putNewest(entries: Map<string, BucketEntry>, entry: BucketEntry): void {
  entries.delete(entry.key);
  entries.set(entry.key, entry);
}
