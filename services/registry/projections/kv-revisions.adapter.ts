import { jetstream } from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import type { z } from 'zod';
import { OVERTAKEN, uncontended } from '#libs/event-log';
import { entryValue, isWrongSequence, readBucket } from '#libs/messaging';

/** A bucket with one key per aggregate. An older revision never replaces a newer one, whichever replica writes. */
export class KvRevisions<T extends { readonly revision: number }> {
  readonly #nc: NatsConnection;
  readonly #name: string;
  readonly #schema: z.ZodType<T>;
  #bucket: Promise<KV> | undefined;

  constructor(nc: NatsConnection, { bucket, schema }: { readonly bucket: string; readonly schema: z.ZodType<T> }) {
    this.#nc = nc;
    this.#name = bucket;
    this.#schema = schema;
  }

  /** Of replicas that write at the same time one is first, and the others find nothing left to do. */
  write(id: string, newest: (stored?: T) => Promise<T>): Promise<void> {
    return uncontended(`the entry of ${id} in ${this.#name}`, async () => {
      try {
        return await this.#compareAndWrite(id, newest);
      } catch (error) {
        if (isWrongSequence(error)) return OVERTAKEN;
        throw error;
      }
    });
  }

  async #compareAndWrite(id: string, newest: (stored?: T) => Promise<T>): Promise<void> {
    const kv = await this.#open();
    const before = await kv.get(id);
    const stored = before === null ? undefined : entryValue(before, this.#schema);
    const value = await newest(stored);
    const text = JSON.stringify(value);
    if (before === null) return void (await kv.create(id, text));
    if (stored !== undefined && stored.revision > value.revision) return;
    // The same revision with other content: newer metrics, the whole fleet was held or released, or older code merged it.
    if (before.operation === 'PUT' && before.string() === text) return;
    await kv.update(id, text, before.revision);
  }

  async remove(id: string): Promise<void> {
    await (await this.#open()).purge(id);
  }

  async list(): Promise<string[]> {
    return (await readBucket(this.#nc, this.#name)).map(({ key }) => key);
  }

  async read(id: string): Promise<T | undefined> {
    const entry = await (await this.#open()).get(id);
    return entry === null ? undefined : entryValue(entry, this.#schema);
  }

  /** Read from the leader, or the compare would fail on a value that is already gone. */
  #open(): Promise<KV> {
    this.#bucket ??= new Kvm(jetstream(this.#nc, { checkAPI: false })).open(this.#name, {
      allow_direct: false,
    });
    return this.#bucket;
  }
}
