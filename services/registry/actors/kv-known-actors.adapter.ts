import { jetstream } from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { ActorId, BUCKETS, KnownActor } from '#proto';
import { entryValue, readBucket } from '#libs/messaging';

/** What version 0.1.0 has written into ACTORS: public keys and whom they stand for. */
export class KvKnownActors {
  readonly #nc: NatsConnection;

  constructor(nc: NatsConnection) {
    this.#nc = nc;
  }

  /** By key; what cannot be read stands for nobody. */
  async read(): Promise<ReadonlyMap<string, KnownActor>> {
    const written = await readBucket(this.#nc, BUCKETS.ACTORS.bucket);
    const entries = written.flatMap((entry): [string, KnownActor][] => {
      const known = ActorId.safeParse(entry.key).success ? undefined : entryValue(entry, KnownActor);
      return known === undefined ? [] : [[entry.key, known]];
    });
    return new Map(entries);
  }

  async remove(key: string): Promise<void> {
    await (await this.#open()).purge(key);
  }

  #open(): Promise<KV> {
    return new Kvm(jetstream(this.#nc, { checkAPI: false })).open(BUCKETS.ACTORS.bucket, { allow_direct: false });
  }
}
