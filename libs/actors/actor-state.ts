import {
  unknownFact,
  type Actor,
  type ActorEntry,
  type ActorId,
  type ContentApproval,
  type DatedKey,
  type GivenLimits,
  type Instant,
  type Login,
  type NamedToken,
  type RecordedActorEvent,
  type Role,
} from '#proto';

/** A token as its actor has it, also after it was revoked: an id or a secret is never given again. */
export interface IssuedToken extends NamedToken {
  readonly issuedAt: Instant;
  readonly revokedAt: Instant | null;
  /** To within LIMITS.tokenUseMs. */
  readonly lastUsedAt: Instant | null;
}

/** A standing approval as its actor gave it. */
export interface GivenApproval extends ContentApproval {
  readonly at: Instant;
  readonly revokedAt: Instant | null;
}

/** One actor, folded from its subject in ACTORS. What it had stays after it is revoked, with the time at which that ended. */
export interface ActorState {
  readonly actor: Actor;
  readonly roles: readonly Role[];
  readonly namespace: string;
  readonly mayVouch: boolean;
  /** What it was given; empty: what everybody of its kind has. */
  readonly limits: GivenLimits;
  /** By whom: what setup has added, setup may replace. */
  readonly addedBy: Actor;
  readonly addedAt: Instant;
  readonly keys: readonly (DatedKey & { readonly addedBy: Actor })[];
  readonly tokens: readonly IssuedToken[];
  /** Those that are bound now. */
  readonly logins: readonly Login[];
  /** Those that count or did lately: what has ended is forgotten with the next one. */
  readonly approvals: readonly GivenApproval[];
  readonly revokedAt: Instant | null;
  /** Sequence of the last event that is folded in. */
  readonly revision: number;
}

/** Folds one recorded fact; total over ActorEvent, without a clock. Throws for a log that does not begin with ACTOR_ADDED. */
export function evolveActor(state: ActorState | undefined, event: RecordedActorEvent, actorId: ActorId): ActorState {
  const { sequence: revision } = event;
  if (event.type === 'ACTOR_ADDED') {
    const { actor, roles, namespace, mayVouch = false, by, at } = event.data;
    if (state !== undefined) throw new Error(`${actorId} is added twice`);
    const nothing = { limits: {}, keys: [], tokens: [], logins: [], approvals: [], revokedAt: null };
    return { actor, roles, namespace, mayVouch, addedBy: by, addedAt: at, ...nothing, revision };
  }
  if (state === undefined) throw new Error(`${event.type} of ${actorId} comes before ACTOR_ADDED`);
  return { ...state, revision, ...changesOf(state, event) };
}

type Later = Exclude<RecordedActorEvent, { type: 'ACTOR_ADDED' }>;

function changesOf(state: ActorState, event: Later): Partial<ActorState> {
  switch (event.type) {
    case 'ROLES_CHANGED': {
      const { given, taken } = event.data;
      return { roles: [...state.roles.filter((role) => !taken.includes(role)), ...given] };
    }
    case 'LIMITS_GIVEN':
      return { limits: { ...state.limits, ...event.data.given } };
    case 'KEY_ADDED': {
      const { key, at: from, by: addedBy } = event.data;
      return { keys: [...state.keys, { key, from, addedBy }] };
    }
    case 'KEY_REVOKED': {
      const { key, at } = event.data;
      return { keys: state.keys.map((one) => (one.key === key ? ended(one, at) : one)) };
    }
    case 'TOKEN_ISSUED': {
      const { by: _, at: issuedAt, ...token } = event.data;
      return { tokens: [...state.tokens, { ...token, issuedAt, revokedAt: null, lastUsedAt: null }] };
    }
    case 'TOKEN_REVOKED':
      return { tokens: withToken(state, event.data.tokenId, { revokedAt: event.data.at }) };
    case 'TOKEN_USED':
      return { tokens: withToken(state, event.data.tokenId, { lastUsedAt: event.data.at }) };
    case 'LOGIN_BOUND': {
      const { issuer, subject } = event.data;
      return { logins: [...state.logins, { issuer, subject }] };
    }
    case 'LOGIN_UNBOUND':
      return { logins: state.logins.filter((login) => !isSame(login, event.data)) };
    case 'CONTENT_APPROVED': {
      const { by: _, ...approval } = event.data;
      const living = state.approvals.filter((one) => isStanding(one, Date.parse(approval.at)));
      return { approvals: [...living, { ...approval, revokedAt: null }] };
    }
    case 'CONTENT_REVOKED': {
      const { approvalId, at } = event.data;
      const approvals = state.approvals.map((one) => (one.approvalId === approvalId ? { ...one, revokedAt: at } : one));
      return { approvals };
    }
    case 'ACTOR_REVOKED':
      return revoked(state, event.data.at);
    default:
      return unknownFact(event);
  }
}

function revoked({ keys, tokens }: ActorState, at: Instant): Partial<ActorState> {
  return {
    revokedAt: at,
    keys: keys.map((key) => ended(key, at)),
    tokens: tokens.map((token) => (token.revokedAt === null ? { ...token, revokedAt: at } : token)),
    logins: [],
  };
}

const ended = <K extends DatedKey>(key: K, at: Instant): K => (key.until === undefined ? { ...key, until: at } : key);

function withToken({ tokens }: ActorState, tokenId: string, changes: Partial<IssuedToken>): IssuedToken[] {
  return tokens.map((token) => (token.tokenId === tokenId ? { ...token, ...changes } : token));
}

export function isSame(one: Login, other: Login): boolean {
  return one.issuer === other.issuer && one.subject === other.subject;
}

/** Whether what was signed with it at this time (milliseconds since the epoch) counts: its first instant does, its last does not. */
export function isValidKey({ from, until }: Pick<DatedKey, 'from' | 'until'>, at: number): boolean {
  return Date.parse(from) <= at && (until === undefined || at < Date.parse(until));
}

/** Whether a standing approval counts at this time (milliseconds since the epoch), as far as it is its own matter. */
export function isStanding(
  { expiresAt, revokedAt }: Pick<GivenApproval, 'expiresAt' | 'revokedAt'>,
  at: number,
): boolean {
  return revokedAt === null && at < Date.parse(expiresAt);
}

/** What the bucket ACTORS shows of it. */
export function entryOf(state: ActorState): ActorEntry {
  const { actor, roles, namespace, mayVouch, limits, keys, tokens, logins, revokedAt, revision } = state;
  const approvals = state.approvals.filter((one) => one.revokedAt === null).map(shownApproval);
  return {
    actor,
    roles: [...roles],
    namespace,
    ...(mayVouch ? { mayVouch } : {}),
    ...(Object.keys(limits).length > 0 ? { limits } : {}),
    keys: keys.map(shownKey),
    tokens: tokens.filter((token) => token.revokedAt === null).map(shownToken),
    logins: [...logins],
    ...(approvals.length > 0 && { approvals }),
    ...(revokedAt === null ? {} : { revokedAt }),
    revision,
  };
}

function shownApproval({ approvalId, contentHash, expiresAt, at }: GivenApproval) {
  return { approvalId, contentHash, expiresAt, at };
}

function shownKey({ key, from, until }: DatedKey): DatedKey {
  return until === undefined ? { key, from } : { key, from, until };
}

function shownToken({ tokenId, tokenHash, scopes, label, expiresAt }: NamedToken): NamedToken {
  return { tokenId, tokenHash, scopes, label, expiresAt };
}
