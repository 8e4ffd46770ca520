import { jetstream, JetStreamApiCodes, JetStreamApiError } from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { BUCKETS } from '#proto';
import type { GrantRevocation } from '#libs/fleet';
import { readBucket } from '#libs/messaging';

/** REVOKED_GRANTS: one key per fact, written once; whichever replica writes it, it is the same. */
export class KvRevokedGrants {
  readonly #nc: NatsConnection;
  #bucket: Promise<KV> | undefined;

  constructor(nc: NatsConnection) {
    this.#nc = nc;
  }

  async write({ sequence, revoked }: GrantRevocation): Promise<void> {
    const kv = await this.#open();
    try {
      await kv.create(String(sequence), JSON.stringify(revoked));
    } catch (error) {
      if (!isThere(error)) throw error;
    }
  }

  /** The sequences that are there. */
  async list(): Promise<number[]> {
    return (await readBucket(this.#nc, BUCKETS.REVOKED_GRANTS.bucket)).map(({ key }) => Number(key));
  }

  async #open(): Promise<KV> {
    const opening =
      this.#bucket ?? new Kvm(jetstream(this.#nc, { checkAPI: false })).open(BUCKETS.REVOKED_GRANTS.bucket);
    this.#bucket = opening;
    try {
      return await opening;
    } catch (error) {
      // The next one tries again.
      this.#bucket = undefined;
      throw error;
    }
  }
}

function isThere(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamWrongLastSequence;
}
