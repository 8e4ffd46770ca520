import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { DataSource, EntityManager } from 'typeorm';
import { subjects, type DeadLetter, type StreamName } from '#proto';
import type { StreamEntry } from '#libs/event-log';
import type { Clock } from '#libs/platform';
import { DeadLetterEntity } from '../entities/index.js';
import { upsertRows } from './write.adapter.js';

const SERVICE = 'logging';
const BURY_TIMEOUT_MS = 4_000;

/** Copies a stored message that cannot be projected into the dead-letter queue. Repeated after a crash it is one letter within the dedupe window. */
export class DeadLetters {
  readonly #nc: NatsConnection;
  readonly #clock: Clock;

  constructor(nc: NatsConnection, clock: Clock) {
    this.#nc = nc;
    this.#clock = clock;
  }

  async bury(stream: StreamName, entry: StreamEntry, reason: string): Promise<void> {
    const letter: DeadLetter = {
      service: SERVICE,
      stream,
      sequence: entry.sequence,
      durable: null,
      subject: entry.subject,
      headers: await this.#headersOf(stream, entry.sequence),
      payloadBase64: Buffer.from(entry.data).toString('base64'),
      reason,
      deliveries: 1,
      at: new Date(this.#clock.now()).toISOString(),
    };
    await jetstream(this.#nc).publish(subjects.dlq(SERVICE), JSON.stringify(letter), {
      msgID: `${SERVICE}:${stream}:${entry.sequence}`,
      timeout: BURY_TIMEOUT_MS,
    });
  }

  async #headersOf(stream: StreamName, seq: number): Promise<DeadLetter['headers']> {
    const manager = await jetstreamManager(this.#nc, { checkAPI: false });
    const stored = await manager.streams.getMessage(stream, { seq });
    return Object.fromEntries(stored?.header.keys().map((key) => [key, stored.header.values(key)]) ?? []);
  }
}

export interface BurialParts {
  readonly clock: Clock;
  readonly deadLetters: DeadLetters;
}

/** The stored messages of a stream that have their dead letter: a transaction that failed is tried again, and a crash before it ends buries again, which the message id removes. */
export class Burials {
  readonly #stream: StreamName;
  readonly #parts: BurialParts;
  readonly #sequences = new Set<number>();

  constructor(stream: StreamName, parts: BurialParts) {
    this.#stream = stream;
    this.#parts = parts;
  }

  async begin(source: DataSource): Promise<void> {
    const letters = await source.getRepository(DeadLetterEntity).findBy({ stream: this.#stream });
    for (const { sequence } of letters) this.#sequences.add(sequence);
  }

  async add(manager: EntityManager, entry: StreamEntry, reason: string): Promise<void> {
    const { sequence } = entry;
    const at = new Date(this.#parts.clock.now()).toISOString();
    await upsertRows(manager, DeadLetterEntity, [{ stream: this.#stream, sequence, reason, at }]);
    if (!this.#sequences.has(sequence)) await this.#parts.deadLetters.bury(this.#stream, entry, reason);
    this.#sequences.add(sequence);
  }
}
