import type { NatsConnection } from '@nats-io/transport-node';
import { ConnectionWatch } from './connection-watch.adapter.js';
import {
  CannotStoreError,
  isOverLimit,
  lookAtStore,
  overLimit,
  type StoreFault,
  type StoreLook,
} from './store.adapter.js';

/** A server that stores answers in milliseconds; after this it is asked why it does not. */
const LOOK_AFTER_MS = 1_000;
/** Those who wait at once share one look. */
const LOOK_GOOD_MS = 500;

const watches = new WeakMap<NatsConnection, StoreWatch>();

/**
 * Knows why a server that is there stores nothing. A stream whose disk is full answers no publisher at all; only the HTTP monitoring says
 * so. Without that, those who wait run into their timeouts.
 *
 *   publish ──ack──► stored
 *      ├──refused for want of room──────────────────────────► CannotStoreError
 *      └──no answer for a second──► what does the server say?
 *               ▲                      ├── it cannot write ──► CannotStoreError
 *               └── a second later ────┴── nothing of that
 */
export class StoreWatch {
  readonly #connection: ConnectionWatch;
  #monitorUrl: string | undefined;
  #looked: { readonly at: number; readonly look: Promise<StoreLook> } | undefined;
  #isFull = false;
  /** Since when who has waited for an answer. */
  readonly #waiting = new Map<(error: CannotStoreError) => void, number>();
  #timer: NodeJS.Timeout | undefined;

  private constructor(nc: NatsConnection) {
    this.#connection = ConnectionWatch.of(nc);
  }

  /** One per connection. */
  static of(nc: NatsConnection): StoreWatch {
    const watch = watches.get(nc) ?? new StoreWatch(nc);
    watches.set(nc, watch);
    return watch;
  }

  /** Where the server says how its store is. */
  asks(monitorUrl: string): void {
    this.#monitorUrl = monitorUrl;
  }

  /** What is stored, and what keeps it from storing more; undefined when nobody says where to ask. Throws when nobody answers there. */
  async look(): Promise<StoreLook | undefined> {
    if (this.#monitorUrl === undefined) return undefined;
    const now = performance.now();
    if (this.#looked === undefined || now - this.#looked.at > LOOK_GOOD_MS) {
      this.#looked = { at: now, look: lookAtStore(this.#monitorUrl) };
    }
    const look = await this.#looked.look;
    this.#isFull = isFull(look.fault);
    return look;
  }

  /** Undefined when the server stores, and when nobody can say. */
  async fault(): Promise<StoreFault | undefined> {
    return (await this.look().catch(() => undefined))?.fault;
  }

  /**
   * Sends what has to be stored, as `ConnectionWatch.request`, and throws CannotStoreError as soon as the server says that it cannot. It may
   * have been stored all the same when that is thrown: who has to know reads.
   */
  async stored<T>(send: () => Promise<T>): Promise<T> {
    if (this.#isFull) await this.#unlessFull();
    const { promise: refused, reject } = Promise.withResolvers<never>();
    this.#waiting.set(reject, performance.now());
    this.#watch();
    try {
      return await Promise.race([this.#connection.request(send), refused]);
    } catch (error) {
      throw isOverLimit(error) ? overLimit(error) : error;
    } finally {
      this.#waiting.delete(reject);
    }
  }

  async #unlessFull(): Promise<void> {
    const fault = await this.fault();
    if (fault !== undefined && isFull(fault)) throw new CannotStoreError(fault);
  }

  /** Looks for as long as somebody waits. */
  #watch(): void {
    if (this.#monitorUrl === undefined || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => void this.#lookForWaiting(), LOOK_AFTER_MS);
    this.#timer.unref();
  }

  async #lookForWaiting(): Promise<void> {
    const before = performance.now() - LOOK_AFTER_MS / 2;
    const waiting = [...this.#waiting].filter(([, since]) => since <= before).map(([reject]) => reject);
    const fault = waiting.length === 0 ? undefined : await this.fault();
    if (fault !== undefined) for (const reject of waiting) reject(new CannotStoreError(fault));
    this.#timer = undefined;
    if (this.#waiting.size > 0) this.#watch();
  }
}

const isFull = (fault: StoreFault | undefined): boolean => fault !== undefined && fault.kind !== 'failed';
