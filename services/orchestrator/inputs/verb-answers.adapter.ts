import { createHash } from 'node:crypto';
import { jetstream } from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { type Actor, BUCKETS, parseJson, type RunId, VerbAnswer, type VerbId } from '#proto';

/** Which intent of whom: the same id of somebody else is another one. */
export interface SaidVerb {
  readonly runId: RunId;
  readonly by: Actor;
  readonly id: VerbId;
}

/** What was answered first to each verb, for every replica. */
export interface VerbAnswers {
  /** Undefined for what was not answered yet, or so long ago that only the run still knows of it. */
  first(said: SaidVerb): Promise<VerbAnswer | undefined>;
  /** The answer that counts: this one, or the one that another replica has given meanwhile. */
  keep(said: SaidVerb, answer: VerbAnswer): Promise<VerbAnswer>;
}

/** The bucket VERB_ANSWERS; an entry is written once, and never over another one. */
export class KvVerbAnswers implements VerbAnswers {
  readonly #bucket: KV;

  private constructor(bucket: KV) {
    this.#bucket = bucket;
  }

  static async open(nc: NatsConnection): Promise<KvVerbAnswers> {
    // Read from the leader: what another replica has written a moment ago is there.
    const options = { allow_direct: false, bindOnly: true };
    return new KvVerbAnswers(
      await new Kvm(jetstream(nc, { checkAPI: false })).open(BUCKETS.VERB_ANSWERS.bucket, options),
    );
  }

  async first(said: SaidVerb): Promise<VerbAnswer | undefined> {
    const entry = await this.#bucket.get(keyOf(said));
    return entry === null ? undefined : VerbAnswer.safeParse(parseJson(entry.value)).data;
  }

  async keep(said: SaidVerb, answer: VerbAnswer): Promise<VerbAnswer> {
    try {
      await this.#bucket.create(keyOf(said), JSON.stringify(answer));
      return answer;
    } catch (error) {
      // Somebody was first, or nobody knows: then what is there says which.
      const kept = await this.first(said);
      if (kept !== undefined) return kept;
      throw error;
    }
  }
}

/** A key of the bucket has one token: what it is made of may hold anything. */
function keyOf({ runId, by, id }: SaidVerb): string {
  return createHash('sha256')
    .update(JSON.stringify([runId, by.kind, by.id, id]))
    .digest('hex');
}
