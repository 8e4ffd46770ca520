import type { JsMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { DurableSpec } from '#proto';
import { busMessage, type BusMessage } from './bus-message.js';
import { systemClock, type Clock } from '../connection/index.js';
import { bury } from './dead-letter.adapter.js';
import { DONE, retryAfterFailure, type Outcome } from './outcome.js';
import { PullLoop } from './pull-loop.adapter.js';
import { settle } from './settle.js';

const CONCURRENCY_DEFAULT = 16;
const DRAIN_MS_DEFAULT = 5_000;

const NOT_BEGUN: Outcome = { kind: 'retry', delayMs: 0, reason: 'this replica stops' };

/** What is worth a log line; the library itself writes none. */
export type ConsumeEvent =
  | { readonly kind: 'interrupted'; readonly durable: string; readonly error: unknown }
  | {
      readonly kind: 'retry' | 'poison';
      readonly durable: string;
      readonly subject: string;
      readonly sequence: number;
      readonly deliveries: number;
      readonly reason: string;
    };

export interface ConsumeOptions {
  /** Whose dead letters these are. */
  readonly service: string;
  /** Handlers at once; a function when it changes with time, see `Consumption.look`. */
  readonly concurrency?: number | (() => number);
  /** Messages taken and not yet settled, at most; twice the concurrency when absent. */
  readonly maxPull?: number | (() => number);
  /**
   * Acks of what is done leave together this often, at most; at once when absent. The server writes a consumer's position to
   * the disk as often as acks come in, so on a busy durable single acks cost more than the messages. Far below `ack_wait`.
   */
  readonly ackIntervalMs?: number;
  /** How long a pull may wait at the server; `PULL_EXPIRY_MS` when absent, which is right where replicas share a durable. */
  readonly expiryMs?: () => number;
  readonly report?: (event: ConsumeEvent) => void;
  readonly clock?: Clock;
}

export interface Consumption {
  readonly spec: DurableSpec;
  /** `performance.now()` since when it asks for messages and is given none; undefined while it has enough to do. */
  readonly asksSince: () => number | undefined;
  /** Takes no more messages, waits for those in work up to the limit, and gives back what has not been begun. Safe to call twice. */
  stop(drainMs?: number): Promise<void>;
  /** There may be room for more than before, or pulls may have to be shorter: `concurrency`, `maxPull` and `expiryMs` are asked again. */
  look(): void;
}

/**
 * Hands every message of a durable to the handler, up to `concurrency` at once, and settles it by the outcome. A handler that
 * throws means broken infrastructure: the message comes again, for ever. Survives restarts of the server.
 */
export function consumeDurable(
  nc: NatsConnection,
  durable: DurableSpec,
  handler: (message: BusMessage) => Promise<Outcome>,
  options: ConsumeOptions,
): Consumption {
  const concurrency = bound(options.concurrency ?? CONCURRENCY_DEFAULT);
  const waiting: BatchMessage[] = [];
  let running = 0;
  let stopping = false;
  const next = () => {
    while (running < concurrency()) {
      const message = waiting.shift();
      if (message === undefined) return;
      running += 1;
      void handle(message);
    }
  };
  const handle = async (message: BatchMessage) => {
    try {
      message.settle(await handler(message));
    } catch (error) {
      message.settle(retryAfterFailure(error, message.deliveries));
    }
    running -= 1;
    if (!stopping) next();
  };
  const giveBack = () => {
    for (const message of waiting.splice(0)) message.settle(NOT_BEGUN);
  };
  const batches = consumeBatches(
    nc,
    durable,
    (messages) => {
      waiting.push(...messages);
      if (stopping) giveBack();
      else next();
    },
    { ...options, maxPull: options.maxPull ?? (() => concurrency() * 2) },
  );
  return {
    ...batches,
    look: () => {
      if (!stopping) next();
      batches.look();
    },
    stop: async (drainMs) => {
      stopping = true;
      giveBack();
      await batches.stop(drainMs);
    },
  };
}

/** A message that is settled later, together with others or alone. Until then the server is told that it is in work. */
export interface BatchMessage extends BusMessage {
  /** Once; later calls do nothing. */
  settle(outcome: Outcome): void;
}

/** Hands over messages in groups as they arrive; each has to be settled some time, or it is held until `stop`. */
export function consumeBatches(
  nc: NatsConnection,
  durable: DurableSpec,
  handler: (messages: BatchMessage[]) => void,
  options: ConsumeOptions,
): Consumption {
  const { service, report, clock = systemClock } = options;
  const concurrency = bound(options.concurrency ?? CONCURRENCY_DEFAULT);
  let arrived: BatchMessage[] = [];
  const deliver = () => {
    const messages = arrived;
    arrived = [];
    handler(messages);
  };
  const loop = new PullLoop(nc, durable, {
    maxPull: bound(options.maxPull ?? (() => concurrency() * 2)),
    expiryMs: options.expiryMs,
    onMessage: (raw) => {
      // What one read of the socket brought goes together.
      if (arrived.push(batchMessage(raw)) === 1) setImmediate(deliver);
    },
    onInterrupted: (error) => report?.({ kind: 'interrupted', durable: durable.durable, error }),
  });
  const batchMessage = (raw: JsMsg): BatchMessage => {
    const message = busMessage(raw);
    let settled = false;
    return {
      ...message,
      settle: (outcome) => {
        if (settled) return;
        settled = true;
        if (outcome.kind !== 'done') {
          const { subject, sequence, deliveries } = message;
          const { kind, reason } = outcome;
          report?.({ kind, durable: durable.durable, subject, sequence, deliveries, reason });
        }
        void settleRaw(raw, outcome);
      },
    };
  };
  const done: JsMsg[] = [];
  let pacing: NodeJS.Timeout | undefined;
  const acknowledge = () => {
    clearTimeout(pacing);
    pacing = undefined;
    for (const raw of done.splice(0)) void settleNow(raw, DONE);
  };
  const settleRaw = async (raw: JsMsg, outcome: Outcome) => {
    if (options.ackIntervalMs === undefined || outcome.kind !== 'done') return settleNow(raw, outcome);
    loop.release(raw);
    done.push(raw);
    pacing ??= setTimeout(acknowledge, options.ackIntervalMs);
  };
  const settleNow = async (raw: JsMsg, outcome: Outcome) => {
    try {
      await settle(raw, outcome, (poison, reason) => bury(nc, poison, reason, { service, durable, clock }));
    } catch (error) {
      // Not settled, so it comes again: at the latest when the server misses its beats.
      report?.({ kind: 'interrupted', durable: durable.durable, error });
    } finally {
      loop.release(raw);
    }
  };
  let stopped: Promise<void> | undefined;
  const stop = async (drainMs: number) => {
    await loop.stopIntake();
    await loop.drained(drainMs);
    acknowledge();
    for (const raw of loop.end()) await settle(raw, NOT_BEGUN, () => Promise.resolve()).catch(() => {});
  };
  return {
    spec: durable,
    asksSince: () => loop.asksSince,
    stop: (drainMs = DRAIN_MS_DEFAULT) => (stopped ??= stop(drainMs)),
    look: () => loop.look(),
  };
}

function bound(of: number | (() => number)): () => number {
  return typeof of === 'number' ? () => of : of;
}
