import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream, type Consumer, type ConsumerMessages, type JsMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { doubledMs } from '#libs/backoff';
import { ACK_WAIT_MS, PULL_EXPIRY_MS, type DurableSpec } from '#proto';
import { ConnectionWatch } from '../connection/index.js';
import { beat } from './settle.js';

/** A beat may be late twice before the server gives the message to somebody else. */
const BEATS_PER_ACK_WAIT = 3;
/** A loop that waits for the server ends by itself later; nobody has to wait for it. */
const STOP_MS_MAX = 500;
const WAIT = { msMin: 100, msMax: 2_000 };

export interface PullLoopOptions {
  /** Messages taken and not yet settled, at most: the only back-pressure there is. */
  readonly maxPull: () => number;
  /** How long a pull may wait at the server, in milliseconds; `look` gives up one that waits longer than is right by then. */
  readonly expiryMs?: (() => number) | undefined;
  readonly onMessage: (message: JsMsg) => void;
  /** The server is away, or the durable is gone: tried again for ever. */
  readonly onInterrupted?: ((error: unknown) => void) | undefined;
}

/**
 * Takes messages of one durable for as long as it runs, over restarts of the server. What was taken is held, and the server
 * is told three times per `ack_wait` that it is, until it is released.
 *
 *   pulling ──room for less than a quarter──► full ──released──► pulling
 *      └──error──► backing off ──► pulling            stop() from anywhere: no new messages, held ones stay held
 */
export class PullLoop {
  readonly #nc: NatsConnection;
  readonly #durable: DurableSpec;
  readonly #options: PullLoopOptions;
  readonly #held = new Set<JsMsg>();
  readonly #beats: NodeJS.Timeout;
  readonly #stopped = new AbortController();
  readonly #running: Promise<void>;
  #batch: ConsumerMessages | undefined;
  #batchExpiryMs = 0;
  readonly #waiters = new Set<() => void>();
  #asksSince: number | undefined;

  constructor(nc: NatsConnection, durable: DurableSpec, options: PullLoopOptions) {
    this.#nc = nc;
    this.#durable = durable;
    this.#options = options;
    this.#beats = setInterval(() => this.#beat(), (durable.ackWaitMs ?? ACK_WAIT_MS) / BEATS_PER_ACK_WAIT);
    this.#running = this.#run();
  }

  /** `performance.now()` since when this loop asks and is given nothing; undefined while it has no room. */
  get asksSince(): number | undefined {
    return this.#asksSince;
  }

  release(message: JsMsg): void {
    this.#held.delete(message);
    this.#wakeAll();
  }

  /** There may be more room than before, or a pull may have to be a shorter one. */
  look(): void {
    if (this.#batchExpiryMs > this.#expiryMs()) this.#batch?.stop();
    this.#wakeAll();
  }

  /** Takes no more. Beats go on until `end`. */
  async stopIntake(): Promise<void> {
    this.#stopped.abort();
    this.#batch?.stop();
    this.#wakeAll();
    const limit = new AbortController();
    await Promise.race([this.#running, sleep(STOP_MS_MAX, undefined, { signal: limit.signal }).catch(() => {})]);
    limit.abort();
  }

  /** Resolves to true when all held messages are released, to false after `limitMs`. */
  async drained(limitMs: number): Promise<boolean> {
    const limit = new AbortController();
    const late = sleep(limitMs, false, { signal: limit.signal }).catch(() => false);
    const empty = (async () => {
      while (this.#held.size > 0 && !limit.signal.aborted) await this.#released();
      return this.#held.size === 0;
    })();
    const drained = await Promise.race([empty, late]);
    limit.abort();
    this.#wakeAll();
    return drained;
  }

  /** Forgets what is still held: without beats the server gives it to somebody else. */
  end(): JsMsg[] {
    clearInterval(this.#beats);
    const left = [...this.#held];
    this.#held.clear();
    return left;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopped;
    for (let failures = 0; !signal.aborted && !this.#nc.isClosed();) {
      try {
        const consumer = await ConnectionWatch.of(this.#nc).request(() =>
          jetstream(this.#nc).consumers.get(this.#durable.stream, this.#durable.durable),
        );
        while (!signal.aborted) {
          await this.#pullOnce(consumer);
          failures = 0;
        }
      } catch (error) {
        if (signal.aborted || this.#nc.isClosed()) return;
        this.#options.onInterrupted?.(error);
        failures += 1;
        await sleep(doubledMs(WAIT, failures), undefined, { signal }).catch(() => {});
      }
    }
  }

  /** A pull that asks for exactly what there is room for: more would wait here without beats and come twice. */
  async #pullOnce(consumer: Consumer): Promise<void> {
    while (this.#held.size > this.#options.maxPull() * 0.75 && !this.#stopped.signal.aborted) {
      this.#asksSince = undefined;
      await this.#released();
    }
    this.#asksSince ??= performance.now();
    if (this.#stopped.signal.aborted) return;
    this.#batchExpiryMs = this.#expiryMs();
    this.#batch = await consumer.fetch({
      max_messages: Math.max(1, this.#options.maxPull() - this.#held.size),
      expires: this.#batchExpiryMs,
      bind: true,
    });
    if (this.#stopped.signal.aborted || this.#batchExpiryMs > this.#expiryMs()) this.#batch.stop();
    for await (const message of this.#batch) {
      this.#asksSince = undefined;
      this.#held.add(message);
      this.#options.onMessage(message);
    }
  }

  #expiryMs(): number {
    return this.#options.expiryMs?.() ?? PULL_EXPIRY_MS;
  }

  #released(): Promise<void> {
    return new Promise((resolve) => void this.#waiters.add(resolve));
  }

  #wakeAll(): void {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const wake of waiters) wake();
  }

  #beat(): void {
    if (this.#nc.isClosed()) return;
    for (const message of this.#held) beat(message);
  }
}
