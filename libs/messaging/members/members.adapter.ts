import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { BUCKETS, Member } from '#proto';
import { partitionsOf } from './assignment.js';
import type { Clock } from '../connection/index.js';

const HEARTBEAT_MS = 500;
const REQUEST_TIMEOUT_MS = 1_000;
const LEAVE_TRIES = 2;

/** Takes a word about a member back. Not only once: a machine may have stood still. After that the word expires by itself. */
export async function takeBack(bucket: () => Promise<KV>, key: string): Promise<void> {
  for (let tries = 0; tries < LEAVE_TRIES; tries++) {
    try {
      return await (await bucket()).purge(key);
    } catch {
      // tried again
    }
  }
}
const READ_BATCH_MAX = 1_000;

export interface MembersOptions {
  readonly service: string;
  readonly instance: string;
  readonly clock: Clock;
  /** Running tasks per device of this replica's own runs; asked at every heartbeat. */
  readonly running?: () => Record<string, number>;
  /** Whether this replica of the planner has a model to ask. */
  readonly model?: boolean;
  /** The partitions this replica serves from now on; called whenever they change. */
  readonly changed: (partitions: ReadonlySet<number>) => void;
  /** What all living members of all services said last, this one included; called after every heartbeat. */
  readonly seen?: (members: readonly Member[]) => void;
  readonly report?: (error: unknown) => void;
}

/**
 * Membership of the replicas of one service. Every heartbeat renews the own key and reads all others, which expire by
 * themselves; who could not renew for the time to live serves nothing, because by then the others have taken over.
 */
export class Members {
  readonly #nc: NatsConnection;
  readonly #options: MembersOptions;
  readonly #stopped = new AbortController();
  readonly #key: string;
  #owned: ReadonlySet<number> = new Set();
  #lease: NodeJS.Timeout | undefined;
  /** `performance.now()` at which the others may take this one for dead. */
  #leaseEnds = 0;
  #beating: Promise<void> | undefined;
  #opened: KV | undefined;

  constructor(nc: NatsConnection, options: MembersOptions) {
    this.#nc = nc;
    this.#options = options;
    this.#key = `${options.service}.${options.instance}`;
  }

  begin(): void {
    this.#beating ??= this.#beat();
  }

  partitions(): ReadonlySet<number> {
    return this.#owned;
  }

  /**
   * Whether the others still count on this replica. By the clock and not by a timer, so that it is right also in the first
   * instant after this process was frozen. Asked before anything is written, and after anything was read for an answer.
   */
  alive(): boolean {
    return performance.now() < this.#leaseEnds;
  }

  /** Gives up all partitions, then tells the others, so that they need not wait for the key to expire. */
  async end(): Promise<void> {
    this.#stopped.abort();
    clearTimeout(this.#lease);
    this.#own([]);
    await this.#beating;
    if (this.#nc.isClosed()) return;
    await takeBack(() => this.#bucket(), this.#key);
  }

  async #beat(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted && !this.#nc.isClosed()) {
      const began = performance.now();
      await this.#beatOnce(began).catch((error: unknown) => this.#options.report?.(error));
      const rest = HEARTBEAT_MS - (performance.now() - began);
      await sleep(Math.max(rest, 0), undefined, { signal }).catch(() => {});
    }
  }

  async #beatOnce(began: number): Promise<void> {
    await this.#renew();
    if (this.#stopped.signal.aborted) return;
    clearTimeout(this.#lease);
    this.#leaseEnds = began + BUCKETS.MEMBERS.ttlMs;
    this.#lease = setTimeout(() => this.#own([]), Math.max(this.#leaseEnds - performance.now(), 0));
    const others = await this.#readAll();
    if (this.#stopped.signal.aborted || !this.alive()) return;
    const own = others.filter(({ service }) => service === this.#options.service);
    const ids = new Set([this.#key, ...own.map(({ service, instance }) => `${service}.${instance}`)]);
    this.#own(partitionsOf(this.#key, [...ids].toSorted()));
    this.#options.seen?.(others);
  }

  async #renew(): Promise<void> {
    const { service, instance, clock, running, model } = this.#options;
    const member: Member = {
      service,
      instance,
      partitions: [...this.#owned],
      running: running?.() ?? {},
      ...(model !== undefined && { model }),
      at: new Date(clock.now()).toISOString(),
    };
    const bucket = await this.#bucket();
    await bucket.put(this.#key, JSON.stringify(member), { timeout: REQUEST_TIMEOUT_MS });
  }

  #readAll(): Promise<Member[]> {
    return readMembers(this.#nc, '*');
  }

  /** Opened once: that asks the server. */
  async #bucket(): Promise<KV> {
    const js = jetstream(this.#nc, { timeout: REQUEST_TIMEOUT_MS });
    return (this.#opened ??= await new Kvm(js).open(BUCKETS.MEMBERS.bucket));
  }

  #own(partitions: readonly number[]): void {
    const same = partitions.length === this.#owned.size && partitions.every((partition) => this.#owned.has(partition));
    if (same) return;
    this.#owned = new Set(partitions);
    this.#options.changed(this.#owned);
  }
}

/** The living replicas of a service, or of all with `*`, read once. */
export async function readMembers(nc: NatsConnection, service: string): Promise<Member[]> {
  const jsm = await jetstreamManager(nc, { checkAPI: false });
  const members: Member[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const read = await jsm.direct.getLastMessagesFor(`KV_${BUCKETS.MEMBERS.bucket}`, {
    multi_last: [`$KV.${BUCKETS.MEMBERS.bucket}.${service}.*`],
    batch: READ_BATCH_MAX,
    callback: (done, message) => {
      if (done === null) {
        const member = Member.safeParse(message.data.length === 0 ? undefined : message.json());
        if (member.success) members.push(member.data);
      } else if (done.err === undefined || isNobody(done.err)) resolve();
      else reject(done.err);
    },
  });
  const timer = setTimeout(() => read.stop(new Error('the members did not arrive in time')), REQUEST_TIMEOUT_MS);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
  }
  return members;
}

/** The server says so with a status of its own when no key matches. */
function isNobody(error: Error): boolean {
  return 'code' in error && error.code === 404;
}
