import type { NatsConnection } from '@nats-io/transport-node';
import { verifyActorProof, verifyEditGrant, type GrantUse } from '#libs/keys';
import { BUCKETS, RevokedGrants, type Actor, type ActorProof, type EditGrant, type Refusal } from '#proto';
import { followBucket, entryValue, type BucketLook, type Following } from '../buckets/index.js';
import type { Sender } from '../verbs/index.js';
import { builtInActor } from './built-in-actors.js';
import { Directory, type DirectoryEntry } from './directory.js';
import { KnownRevocations } from './known-revocations.js';
import { vouchedBy, type KnownSender } from './vouching.js';

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

export type SenderAnswer = ({ readonly ok: true } & Sender) | Refused;

/**
 * Who is behind a command: its proof shows that somebody holds a key, the bucket ACTORS says whom the key stands for and what
 * he is trusted with. A key that is revoked there stands for nobody from then on, and a grant that REVOKED_GRANTS names allows nothing. When a bucket cannot be
 * followed for a while, what was known stays known, and no grant counts until both are read anew.
 * What cannot be read stands for nobody, and for nothing.
 */
export class Actors {
  readonly #stopped = new AbortController();
  readonly #revocations = new KnownRevocations();
  #directory = new Directory();
  #keys: Following | undefined;
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
    actors.#keys = follow(BUCKETS.ACTORS.bucket, () => actors.#lookAtKeys());
    actors.#followed = [actors.#keys, follow(BUCKETS.REVOKED_GRANTS.bucket, () => actors.#lookAtRevocations())];
    try {
      await Promise.all(actors.#followed.map(({ loaded }) => loaded));
    } catch (error) {
      await actors.end();
      throw error;
    }
    return actors;
  }

  /**
   * Resolves when somebody, or a key of his, that was made known before this was asked is known here, too: who was just told that he has
   * a key uses it at once, and with any service. Nothing is waited for when he is known.
   */
  async lookFor(who: { readonly key: string } | { readonly id: string }): Promise<void> {
    const known = 'key' in who ? this.#directory.ofKey(who.key) : this.actorNamed(who.id);
    if (known === undefined) await this.#keys?.caughtUp();
  }

  /** The sender of a command, as it is known now (see `lookFor`); a refusal says to the sender what is wrong with the proof. */
  actorOf(proof: ActorProof, command: SignedCommand): SenderAnswer {
    const signer = this.#signerOf(proof.key);
    if ('refusal' in signer) return signer;
    const verified = verifyActorProof(proof, command);
    if (!verified.ok) return unauthorized(verified.reason);
    const { actor, namespace, roles, mayVouch } = signer;
    if (proof.vouched === undefined) return { ok: true, actor, namespace, roles, mayVouch };
    const known = (id: string): DirectoryEntry | undefined => this.#directory.get(id);
    const sender = vouchedBy(actor, proof.vouched, { known, now: command.now });
    return typeof sender === 'string' ? unauthorized(sender) : { ok: true, ...sender, mayVouch: false };
  }

  /** Everybody who is known now. */
  get directory(): Directory {
    return this.#directory;
  }

  /**
   * The actor of this id, of whom the server has shown that it is the one: by a subject that is his alone. A user of the installation of
   * whom the registry has not told yet is what this version makes of him.
   */
  actorNamed(id: string): (KnownSender & Pick<Sender, 'roles'>) | undefined {
    const known = this.#directory.get(id);
    if (known === undefined) return builtInActor(id);
    const { actor, namespace, roles, isRevoked } = known;
    return isRevoked ? undefined : { actor, namespace, roles };
  }

  /**
   * Who allows something with a grant: its signature, run, access and time are checked. Only persons can allow anything: the
   * key of a program is for what the program may do itself. What was taken back allows nothing. A refusal says to the holder what
   * is wrong with it; TRY_AGAIN when it may have been taken back while nobody could hear of it here.
   */
  grantOf(grant: EditGrant, { access = 'edit', ...use }: Omit<GrantUse, 'access'> & Partial<GrantUse>): ActorAnswer {
    const verified = verifyEditGrant(grant, { ...use, access });
    if (!verified.ok) return unauthorized(verified.reason);
    const signer = this.#signerOf(verified.key);
    if ('refusal' in signer) return signer;
    const { actor } = signer;
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

  /** Who may sign with the key now. */
  #signerOf(key: string): DirectoryEntry | Refused {
    const signer = this.#directory.ofKey(key);
    // The registry is about to say who is known: nobody is sent away for good because it is not there yet.
    if (this.#directory.isEmpty) return NOBODY_YET;
    if (signer === undefined) {
      return this.#keys?.isCurrent() === true ? unauthorized(`The key ${key} stands for nobody here.`) : UNSEEN;
    }
    const until = signer.keys.find((one) => one.key === key)?.until;
    if (until === undefined) return signer;
    return unauthorized(`The key ${key} of ${signer.actor.id} was revoked at ${until}.`);
  }

  #lookAtKeys(): BucketLook {
    const directory = new Directory();
    return {
      take: (entry) => directory.take(entry),
      complete: () => {
        this.#directory = directory;
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

const NOBODY_YET: Refused = {
  ok: false,
  refusal: { code: 'TRY_AGAIN', message: 'Nobody is known here yet; try again.', issues: [] },
};

const UNSEEN: Refused = {
  ok: false,
  refusal: { code: 'TRY_AGAIN', message: 'Whom the key stands for cannot be seen here now; try again.', issues: [] },
};

function unauthorized(message: string): Refused {
  return { ok: false, refusal: { code: 'UNAUTHORIZED', message, issues: [] } };
}
