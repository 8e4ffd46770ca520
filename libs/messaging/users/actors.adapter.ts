import type { NatsConnection } from '@nats-io/transport-node';
import { verifyActorProof, verifyEditGrant, type GrantUse } from '#libs/keys';
import { BUCKETS, KnownActor, RevokedGrants, type Actor, type ActorProof, type EditGrant, type Refusal } from '#proto';
import { followBucket, entryValue, type BucketLook, type Following } from '../buckets/index.js';
import { KnownRevocations } from './known-revocations.js';
import { DEFAULT_NAMESPACE, FIRST_PERSON, vouchedBy, type KnownSender } from './vouching.js';

/** A signed command as it was received. */
export interface SignedCommand {
  readonly subject: string;
  /** The JSON, before any schema has filled in a default. */
  readonly body: object;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

interface Refused {
  readonly ok: false;
  readonly refusal: Refusal;
}
export type ActorAnswer = { readonly ok: true; readonly actor: Actor } | Refused;
export type SenderAnswer = ({ readonly ok: true } & KnownSender) | Refused;

/**
 * Who is behind a command: its proof shows that somebody holds a key, the bucket ACTORS says whom the key stands for. A key that
 * is taken out of it stands for nobody from then on, and a grant that REVOKED_GRANTS names allows nothing. When a bucket cannot be
 * followed for a while, what was known stays known, and no grant counts until both are read anew.
 * What cannot be read stands for nobody, and for nothing.
 */
export class Actors {
  readonly #stopped = new AbortController();
  readonly #revocations = new KnownRevocations();
  #known: ReadonlyMap<string, Actor> = new Map();
  #followed: readonly Following[] = [];

  private constructor() {
    // Made by `open` only.
  }

  /** Resolves when every key and every revocation that is there is known; throws while a bucket cannot be read. */
  static async open(nc: NatsConnection, report: (error: unknown) => void = () => undefined): Promise<Actors> {
    const actors = new Actors();
    const { signal } = actors.#stopped;
    const follow = (bucket: string, look: () => BucketLook): Following =>
      followBucket(nc, { bucket, look, report, signal });
    actors.#followed = [
      follow(BUCKETS.ACTORS.bucket, () => actors.#lookAtKeys()),
      follow(BUCKETS.REVOKED_GRANTS.bucket, () => actors.#lookAtRevocations()),
    ];
    try {
      await Promise.all(actors.#followed.map(({ loaded }) => loaded));
    } catch (error) {
      await actors.end();
      throw error;
    }
    return actors;
  }

  /** The sender of a command; a refusal says to the sender what is wrong with the proof. */
  actorOf(proof: ActorProof, command: SignedCommand): SenderAnswer {
    const signer = this.#known.get(proof.key);
    if (signer === undefined) return unauthorized(`The key ${proof.key} stands for nobody here.`);
    const verified = verifyActorProof(proof, command);
    if (!verified.ok) return unauthorized(verified.reason);
    if (proof.vouched === undefined) return { ok: true, actor: signer, namespace: DEFAULT_NAMESPACE };
    const sender = vouchedBy(signer, proof.vouched);
    return typeof sender === 'string' ? unauthorized(sender) : { ok: true, ...sender };
  }

  /** The actor of this id, of whom the server has shown that it is the one: by a subject that is his alone. */
  actorNamed(id: string): KnownSender | undefined {
    const actor = [...this.#known.values()].find((known) => known.id === id);
    return actor && { actor, namespace: DEFAULT_NAMESPACE };
  }

  /** Ids of the persons who may approve; undefined where nobody says so. */
  approvers(): readonly string[] | undefined {
    const first = [...this.#known.values()].find(
      ({ kind, id }) => kind === FIRST_PERSON.kind && id === FIRST_PERSON.id,
    );
    return first && [first.id];
  }

  /**
   * Who allows something with a grant: its signature, run, access and time are checked. Only persons can allow anything: the
   * key of a program is for what the program may do itself. What was taken back allows nothing. A refusal says to the holder what
   * is wrong with it; TRY_AGAIN when it may have been taken back while nobody could hear of it here.
   */
  grantOf(grant: EditGrant, { access = 'edit', ...use }: Omit<GrantUse, 'access'> & Partial<GrantUse>): ActorAnswer {
    const verified = verifyEditGrant(grant, { ...use, access });
    if (!verified.ok) return unauthorized(verified.reason);
    const actor = this.#known.get(verified.key);
    if (actor === undefined)
      return unauthorized(`The grant is of the key ${verified.key}, which stands for nobody here.`);
    if (actor.kind !== 'person') {
      return unauthorized(`The grant is of ${actor.id}, which is of kind ${actor.kind}; only a person can give one.`);
    }
    const revoked = this.#revocations.of(grant);
    if (revoked !== undefined) return unauthorized(`The grant was revoked at ${revoked.revokedAt}.`);
    return this.#followed.every((bucket) => bucket.isCurrent()) ? { ok: true, actor } : UNCERTAIN;
  }

  async end(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(this.#followed.map(({ over }) => over));
  }

  #lookAtKeys(): BucketLook {
    const known = new Map<string, Actor>();
    return {
      take: (entry) => {
        const actor = entryValue(entry, KnownActor)?.actor;
        if (actor === undefined) known.delete(entry.key);
        else known.set(entry.key, actor);
      },
      complete: () => {
        this.#known = known;
      },
    };
  }

  /** Nothing is ever taken out: a revocation ends by its own time. */
  #lookAtRevocations(): BucketLook {
    return {
      take: (entry) => {
        const revoked = entryValue(entry, RevokedGrants);
        if (revoked !== undefined) this.#revocations.add(revoked);
      },
    };
  }
}

const UNCERTAIN: ActorAnswer = {
  ok: false,
  refusal: {
    code: 'TRY_AGAIN',
    message: 'Whether the grant was revoked is not known here now; try again.',
    issues: [],
  },
};

function unauthorized(message: string): Refused {
  return { ok: false, refusal: { code: 'UNAUTHORIZED', message, issues: [] } };
}
