import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import type { KvWatchEntry } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';

const WATCH_AGAIN_MS = 500;

/** One look at a whole bucket, and at what changes from then on. */
export interface BucketLook {
  readonly take: (entry: KvWatchEntry) => void;
  /** Everything that was there is taken; called again after changes. */
  readonly complete: () => void;
}

export interface FollowOptions {
  readonly bucket: string;
  /** Called for every watch: each begins with the whole bucket. */
  readonly look: () => BucketLook;
  readonly report: (error: unknown) => void;
  readonly signal: AbortSignal;
}

export interface Following {
  /** Resolves when it has ended, after the signal or the connection. */
  readonly over: Promise<void>;
}

/** Resolves when everything in the bucket is taken, then follows it, also over lost connections; throws while it cannot be read. */
export async function followBucket(nc: NatsConnection, options: FollowOptions): Promise<Following> {
  const { promise: loaded, resolve } = Promise.withResolvers<void>();
  const first = watch(nc, options, resolve);
  const broken = first.then(() => {
    throw new Error(`the watch of ${options.bucket} ended before everything was read`);
  });
  await Promise.race([loaded, broken]);
  return { over: follow(nc, options, first) };
}

/** Begins anew when a watch ends. */
async function follow(nc: NatsConnection, options: FollowOptions, first: Promise<void>): Promise<void> {
  const { signal, report } = options;
  let watching = first;
  while (!signal.aborted && !nc.isClosed()) {
    await watching.catch(report);
    await sleep(WATCH_AGAIN_MS, undefined, { signal }).catch(() => undefined);
    if (!signal.aborted && !nc.isClosed()) watching = watch(nc, options, () => undefined);
  }
  await watching.catch(() => undefined);
}

/** One look at the whole bucket and at what changes then, also what changed while the connection was down. */
async function watch(nc: NatsConnection, { bucket: name, look, signal }: FollowOptions, loaded: () => void) {
  const bucket = await new Kvm(jetstream(nc, { checkAPI: false })).open(name);
  const entries = await bucket.watch();
  const stop = (): void => entries.stop();
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  const { take, complete } = look();
  const done = (): void => {
    complete();
    loaded();
  };
  try {
    if ((await bucket.status()).values === 0) done();
    for await (const entry of entries) {
      take(entry);
      if (entry.delta === 0) done();
    }
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
  }
}
