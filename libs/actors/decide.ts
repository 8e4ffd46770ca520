import {
  LIMITS,
  sameJson,
  type Actor,
  type ActorEvent,
  type ActorId,
  type ContentApproval,
  type GivenLimits,
  type Login,
  type NamedToken,
  type Role,
} from '#proto';
import { evolveActor, isSame, isStanding, type ActorState } from './actor-state.js';
import { SETUP } from './first.js';
import { isOutside, isService } from './outside.js';
import type { Roster } from './roster.js';

/** What is ordered about an actor. */
export type ActorOrder =
  | {
      readonly kind: 'add';
      readonly actorId: ActorId;
      readonly as: Actor['kind'];
      readonly roles: Role[];
      readonly namespace: string;
    }
  | { readonly kind: 'role'; readonly actorId: ActorId; readonly give: readonly Role[]; readonly take: readonly Role[] }
  | { readonly kind: 'limits'; readonly actorId: ActorId; readonly given: GivenLimits }
  | { readonly kind: 'revoke'; readonly actorId: ActorId; readonly reason: string }
  | { readonly kind: 'add-key'; readonly actorId: ActorId; readonly key: string }
  | { readonly kind: 'revoke-key'; readonly actorId: ActorId; readonly key: string; readonly reason: string }
  | { readonly kind: 'bind-login'; readonly actorId: ActorId; readonly login: Login }
  | { readonly kind: 'unbind-login'; readonly actorId: ActorId; readonly login: Login }
  | { readonly kind: 'issue-token'; readonly actorId: ActorId; readonly token: NamedToken }
  | { readonly kind: 'revoke-token'; readonly actorId: ActorId; readonly tokenId: string }
  | { readonly kind: 'use-token'; readonly actorId: ActorId; readonly tokenId: string }
  | { readonly kind: 'approve-content'; readonly actorId: ActorId; readonly approval: ContentApproval }
  | {
      readonly kind: 'revoke-content';
      readonly actorId: ActorId;
      readonly approvalId: string;
      readonly reason: string;
    };

/** Who orders it, proven, and when, in milliseconds since the epoch. */
interface Ordered {
  readonly by: Actor;
  readonly now: number;
}

/** Why the answer is no. */
export type ActorRefusal =
  | 'ACTOR_KNOWN'
  | 'ACTOR_UNKNOWN'
  | 'ACTOR_REVOKED'
  | 'SERVICE'
  | 'LAST_ADMIN'
  | 'GIVEN_AND_TAKEN'
  | 'KEY_TAKEN'
  | 'KEY_WAS_REVOKED'
  | 'LOGIN_TAKEN'
  | 'NO_PERSON'
  | 'NOT_OUTSIDE'
  | 'TOKEN_KNOWN'
  | 'TOKEN_UNKNOWN'
  | 'TOKEN_OVER'
  | 'NO_APPROVER'
  | 'APPROVAL_KNOWN'
  | 'APPROVAL_TIME'
  | 'TOO_MANY';

export type ActorDecision =
  | { readonly kind: 'accepted'; readonly events: readonly ActorEvent[] }
  /** It is so already. */
  | { readonly kind: 'ignored' }
  | { readonly kind: 'rejected'; readonly reason: ActorRefusal };

const IGNORED: ActorDecision = { kind: 'ignored' };

/**
 * What follows from an order. Of all actors one person at least stays who administers the others and can come in: a change that
 * ends the last one is refused, whatever it is.
 */
export function decideActor(roster: Roster, order: ActorOrder, ordered: Ordered): ActorDecision {
  const known = roster.get(order.actorId);
  const decision =
    order.kind === 'add' ? add(roster, order, ordered) : change(roster, { order, actor: known }, ordered);
  if (decision.kind !== 'accepted') return decision;
  return leavesNoAdmin(roster, order.actorId, decision.events, ordered.now) ? rejected('LAST_ADMIN') : decision;
}

type Add = Extract<ActorOrder, { kind: 'add' }>;
type Change = Exclude<ActorOrder, { kind: 'add' }>;
type Order<K extends ActorOrder['kind']> = Extract<ActorOrder, { kind: K }>;

/** An id is never given again: what its first owner did is under it in every log. */
function add(roster: Roster, { actorId: id, as: kind, roles, namespace }: Add, ordered: Ordered): ActorDecision {
  if (roster.get(id) !== undefined || id === SETUP.id) return rejected('ACTOR_KNOWN');
  if (roster.all().length >= LIMITS.actorsMax) return rejected('TOO_MANY');
  return accepted({ type: 'ACTOR_ADDED', data: { actor: { kind, id }, roles, namespace, ...stamp(ordered) } });
}

function change(
  roster: Roster,
  { order, actor }: { readonly order: Change; readonly actor: ActorState | undefined },
  ordered: Ordered,
): ActorDecision {
  if (actor === undefined) return rejected('ACTOR_UNKNOWN');
  if (actor.revokedAt !== null) return isEnd(order) ? IGNORED : rejected('ACTOR_REVOKED');
  switch (order.kind) {
    case 'role':
      return isService(actor) ? rejected('SERVICE') : changeRoles(actor, order, ordered);
    case 'limits':
      return isOutside(actor) ? giveLimits(actor, order, ordered) : rejected('NOT_OUTSIDE');
    case 'revoke': {
      const { reason } = order;
      return isService(actor)
        ? rejected('SERVICE')
        : accepted({ type: 'ACTOR_REVOKED', data: { ...stamp(ordered), reason } });
    }
    case 'add-key':
      return addKey(roster, actor, order.key, ordered);
    case 'revoke-key': {
      const { key, reason } = order;
      const isThere = actor.keys.some((one) => one.key === key && one.until === undefined);
      return isThere ? accepted({ type: 'KEY_REVOKED', data: { key, ...stamp(ordered), reason } }) : IGNORED;
    }
    case 'bind-login':
      return bindLogin(roster, actor, order.login, ordered);
    case 'unbind-login': {
      const isBound = actor.logins.some((login) => isSame(login, order.login));
      return isBound ? accepted({ type: 'LOGIN_UNBOUND', data: { ...order.login, ...stamp(ordered) } }) : IGNORED;
    }
    case 'issue-token':
      return issueToken(roster, actor, order.token, ordered);
    case 'revoke-token':
    case 'use-token':
      return changeToken(actor, order, ordered);
    case 'approve-content':
      return approveContent(actor, order.approval, ordered);
    case 'revoke-content': {
      const { approvalId, reason } = order;
      const isThere = actor.approvals.some((one) => one.approvalId === approvalId && one.revokedAt === null);
      return isThere ? accepted({ type: 'CONTENT_REVOKED', data: { approvalId, ...stamp(ordered), reason } }) : IGNORED;
    }
    default:
      return order satisfies never;
  }
}

/** What ends something is so already when its actor is revoked. */
function isEnd({ kind }: Change): boolean {
  return ENDS.has(kind);
}

const ENDS: ReadonlySet<ActorOrder['kind']> = new Set([
  'revoke',
  'revoke-key',
  'unbind-login',
  'revoke-token',
  'revoke-content',
]);

function changeRoles({ roles }: ActorState, { give, take }: Order<'role'>, ordered: Ordered): ActorDecision {
  if (give.some((role) => take.includes(role))) return rejected('GIVEN_AND_TAKEN');
  const given = give.filter((role) => !roles.includes(role));
  const taken = take.filter((role) => roles.includes(role));
  if (given.length + taken.length === 0) return IGNORED;
  return accepted({ type: 'ROLES_CHANGED', data: { given, taken, ...stamp(ordered) } });
}

function giveLimits({ limits }: ActorState, { given }: Order<'limits'>, ordered: Ordered): ActorDecision {
  if (sameJson({ ...limits, ...given }, limits)) return IGNORED;
  return accepted({ type: 'LIMITS_GIVEN', data: { given, ...stamp(ordered) } });
}

/** A key that was revoked once may be in other hands: it is nobody's again. */
function addKey(roster: Roster, actor: ActorState, key: string, ordered: Ordered): ActorDecision {
  const owner = roster.ownerOfKey(key);
  const had = owner?.keys.find((one) => one.key === key);
  if (had?.until !== undefined) return rejected('KEY_WAS_REVOKED');
  if (owner !== undefined) return owner === actor ? IGNORED : rejected('KEY_TAKEN');
  if (actor.keys.length >= LIMITS.actorKeysMax) return rejected('TOO_MANY');
  return accepted({ type: 'KEY_ADDED', data: { key, ...stamp(ordered) } });
}

function bindLogin(roster: Roster, actor: ActorState, login: Login, ordered: Ordered): ActorDecision {
  if (actor.actor.kind !== 'person') return rejected('NO_PERSON');
  const owner = roster.ownerOfLogin(login);
  if (owner !== undefined) return owner === actor ? IGNORED : rejected('LOGIN_TAKEN');
  if (actor.logins.length >= LIMITS.actorLoginsMax) return rejected('TOO_MANY');
  return accepted({ type: 'LOGIN_BOUND', data: { ...login, ...stamp(ordered) } });
}

function issueToken(roster: Roster, actor: ActorState, token: NamedToken, ordered: Ordered): ActorDecision {
  const isKnown = roster.tokenOf(token.tokenId) !== undefined || roster.isKnownSecret(token.tokenHash);
  if (isKnown) return rejected('TOKEN_KNOWN');
  if (isOver(token, ordered.now)) return rejected('TOKEN_OVER');
  if (isService(actor)) return rejected('SERVICE');
  const living = actor.tokens.filter(({ revokedAt }) => revokedAt === null);
  if (living.length >= LIMITS.actorTokensMax) return rejected('TOO_MANY');
  return accepted({ type: 'TOKEN_ISSUED', data: { ...token, ...stamp(ordered) } });
}

function changeToken(
  actor: ActorState,
  { kind, tokenId }: Order<'revoke-token' | 'use-token'>,
  ordered: Ordered,
): ActorDecision {
  const token = actor.tokens.find((one) => one.tokenId === tokenId);
  if (token === undefined) return rejected('TOKEN_UNKNOWN');
  const { by, at } = stamp(ordered);
  if (kind === 'revoke-token') {
    return token.revokedAt === null ? accepted({ type: 'TOKEN_REVOKED', data: { tokenId, by, at } }) : IGNORED;
  }
  if (token.revokedAt !== null || isOver(token, ordered.now)) return rejected('TOKEN_OVER');
  const isFresh = token.lastUsedAt !== null && ordered.now < Date.parse(token.lastUsedAt) + LIMITS.tokenUseMs;
  return isFresh ? IGNORED : accepted({ type: 'TOKEN_USED', data: { tokenId, at } });
}

/** Only a person who may approve gives his word, for himself, and for a time that ends. */
function approveContent(actor: ActorState, approval: ContentApproval, ordered: Ordered): ActorDecision {
  const { actor: who, roles, approvals } = actor;
  if (who.kind !== 'person' || !roles.includes('approver') || !sameJson(ordered.by, who))
    return rejected('NO_APPROVER');
  if (approvals.some(({ approvalId }) => approvalId === approval.approvalId)) return rejected('APPROVAL_KNOWN');
  const lastsMs = Date.parse(approval.expiresAt) - ordered.now;
  if (lastsMs <= 0 || lastsMs > LIMITS.contentApprovalMsMax) return rejected('APPROVAL_TIME');
  const living = approvals.filter((one) => isStanding(one, ordered.now));
  if (living.length >= LIMITS.contentApprovalsMax) return rejected('TOO_MANY');
  return accepted({ type: 'CONTENT_APPROVED', data: { ...approval, ...stamp(ordered) } });
}

function isOver({ expiresAt }: NamedToken, now: number): boolean {
  return expiresAt !== null && Date.parse(expiresAt) <= now;
}

/** Only when there was one before: an installation whose people are not known yet gets them one by one. */
function leavesNoAdmin(roster: Roster, actorId: ActorId, events: readonly ActorEvent[], now: number): boolean {
  const before = roster.get(actorId);
  if (before === undefined || !administers(before, now)) return false;
  const after = events.reduce<ActorState>(
    (state, event) => evolveActor(state, { id: '', sequence: state.revision + 1, schemaVersion: 1, ...event }, actorId),
    before,
  );
  return !administers(after, now) && !roster.all().some((one) => one !== before && administers(one, now));
}

/** A person who may administer and has something to come in with. */
function administers({ actor, roles, keys, tokens, logins, revokedAt }: ActorState, now: number): boolean {
  if (actor.kind !== 'person' || !roles.includes('admin') || revokedAt !== null) return false;
  const isGood = tokens.some((one) => one.revokedAt === null && !isOver(one, now) && one.scopes.includes('admin'));
  return keys.some(({ until }) => until === undefined) || logins.length > 0 || isGood;
}

function stamp({ by, now }: Ordered): { by: Actor; at: string } {
  return { by, at: new Date(now).toISOString() };
}

function accepted(event: ActorEvent): ActorDecision {
  return { kind: 'accepted', events: [event] };
}

function rejected(reason: ActorRefusal): ActorDecision {
  return { kind: 'rejected', reason };
}
