import {
  ActorEntry,
  KnownActor,
  type Actor,
  type DatedKey,
  type GivenLimits,
  type Login,
  type NamedToken,
  type Sha256,
} from '#proto';
import { entryValue } from '../buckets/index.js';
import { builtInActor, trustedBefore, type Trusted } from './built-in-actors.js';

/** Somebody who is known, as the bucket ACTORS says now. */
export interface DirectoryEntry extends Trusted {
  readonly keys: readonly DatedKey[];
  readonly tokens: readonly NamedToken[];
  readonly logins: readonly Login[];
  /** What it was given, where it is limited. */
  readonly limits: GivenLimits;
  readonly isRevoked: boolean;
  readonly approvals: NonNullable<ActorEntry['approvals']>;
}

type Written = Parameters<typeof entryValue>[0] & { readonly key: string };

/** The bucket ACTORS by actor and by key, in both forms that its entries have had. What cannot be read stands for nobody. */
export class Directory {
  /** By key of the bucket. */
  readonly #entries = new Map<string, DirectoryEntry>();
  #byKey: ReadonlyMap<string, DirectoryEntry> | undefined;

  /** As the bucket tells it, in any order, again and again. */
  take(written: Written): void {
    const entry = entryOfNow(written) ?? entryOfBefore(written);
    if (entry === undefined) this.#entries.delete(written.key);
    else this.#entries.set(written.key, entry);
    this.#byKey = undefined;
  }

  /** Nothing is in the bucket: nobody can be known yet. */
  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  /** Whose key it is or was. */
  ofKey(key: string): DirectoryEntry | undefined {
    this.#byKey ??= new Map(this.#all().flatMap((entry) => entry.keys.map((one) => [one.key, entry] as const)));
    return this.#byKey.get(key);
  }

  get(actorId: string): DirectoryEntry | undefined {
    return this.#entries.get(actorId) ?? this.#all().find(({ actor }) => actor.id === actorId);
  }

  /** What a system outside was given; undefined for everybody else, whom nothing limits. */
  limitsOf(actorId: string): GivenLimits | undefined {
    const { actor = builtInActor(actorId)?.actor, limits = {} } = this.get(actorId) ?? {};
    const isOutside = actor?.kind === 'external' || (actor?.kind === 'system' && builtInActor(actorId) === undefined);
    return isOutside ? limits : undefined;
  }

  /** Persons who may approve, and are not revoked. Who speaks for others is not counted: those for whom it speaks are. */
  approvers(): Actor[] {
    const living = this.#all().filter(({ isRevoked, mayVouch }) => !isRevoked && !mayVouch);
    return living.flatMap(({ actor, roles }) => (actor.kind === 'person' && roles.includes('approver') ? [actor] : []));
  }

  /** Words of those persons for this content that count at this time (milliseconds since the epoch), oldest first. */
  standing(contentHash: Sha256, now: number): { approvalId: string; contentHash: Sha256; by: Actor }[] {
    const approvers = new Set(this.approvers().map(({ id }) => id));
    const all = this.#all().flatMap(({ actor: by, approvals }) =>
      approvers.has(by.id) ? approvals.map((approval) => ({ ...approval, by })) : [],
    );
    return all
      .filter((one) => one.contentHash === contentHash && now < Date.parse(one.expiresAt))
      .toSorted((one, other) => (`${one.at} ${one.approvalId}` < `${other.at} ${other.approvalId}` ? -1 : 1))
      .map(({ approvalId, by }) => ({ approvalId, contentHash, by }));
  }

  #all(): DirectoryEntry[] {
    return [...this.#entries.values()];
  }
}

function entryOfNow(written: Written): DirectoryEntry | undefined {
  const entry = entryValue(written, ActorEntry);
  if (entry?.actor.id !== written.key) return undefined;
  const {
    actor,
    roles,
    namespace,
    mayVouch = false,
    limits = {},
    keys,
    tokens,
    logins,
    approvals = [],
    revokedAt,
  } = entry;
  return {
    actor,
    roles,
    namespace,
    mayVouch,
    limits,
    keys,
    tokens,
    logins,
    approvals,
    isRevoked: revokedAt !== undefined,
  };
}

/** As version 0.1.0 wrote it, until the registry has made facts of it. */
function entryOfBefore(written: Written): DirectoryEntry | undefined {
  const known = entryValue(written, KnownActor);
  if (known === undefined) return undefined;
  const { actor, since } = known;
  const trusted = builtInActor(actor.id) ?? trustedBefore(actor);
  const nothing = { limits: {}, tokens: [], logins: [], approvals: [], isRevoked: false };
  return { ...trusted, actor, keys: [{ key: written.key, from: since }], ...nothing };
}
