import type { Actor, ActorEvent, ActorId, Instant, Role } from '#proto';
import type { ActorState } from './actor-state.js';
import type { Roster } from './roster.js';

/** Who has made an installation what it is before anybody ordered anything. No actor has its name. */
export const SETUP: Actor = { kind: 'system', id: 'setup' };

/** Somebody with a key who is known without an order: a user of the bus of this installation, or one that version 0.1.0 knew. */
export interface KnownBefore {
  readonly actor: Actor & { readonly id: ActorId };
  readonly roles: readonly Role[];
  readonly namespace: string;
  readonly mayVouch?: boolean;
  /** Null: it signs nothing. */
  readonly key: string | null;
  /** Since when the key counts; now, when it is not said. */
  readonly since?: Instant;
}

/**
 * The facts that make the log say what is known already; none when it does. Who is there stays as people have made him: only a key of
 * setup's own is replaced, and a service gets the roles that its version has. Who is revoked, and a key that is, stays so.
 */
export function decideFirst(roster: Roster, known: KnownBefore, now: number): readonly ActorEvent[] {
  const at = new Date(now).toISOString();
  const { actor, roles, namespace, mayVouch = false, key, since = at } = known;
  const state = roster.get(actor.id);
  const isFree = key !== null && roster.ownerOfKey(key) === undefined;
  const added: ActorEvent[] = isFree ? [{ type: 'KEY_ADDED', data: { key, by: SETUP, at: since } }] : [];
  if (state === undefined) {
    const vouches = mayVouch ? ({ mayVouch } as const) : {};
    const data = { actor, roles: [...roles], namespace, ...vouches, by: SETUP, at };
    return [{ type: 'ACTOR_ADDED', data }, ...added];
  }
  if (state.revokedAt !== null) return [];
  const replaced = isFree && known.since === undefined ? replacedKeys(state, at) : [];
  return [...rolesOf(state, roles, at), ...replaced, ...added];
}

/** Keys that setup added before this one; those that people added are theirs. */
function replacedKeys({ keys }: ActorState, at: Instant): ActorEvent[] {
  return keys
    .filter(({ until, addedBy }) => until === undefined && isSetup(addedBy))
    .map(({ key }) => ({ type: 'KEY_REVOKED', data: { key, by: SETUP, at, reason: 'replaced by setup' } }));
}

function rolesOf({ actor, addedBy, roles }: ActorState, wanted: readonly Role[], at: Instant): ActorEvent[] {
  if (actor.kind !== 'system' || !isSetup(addedBy)) return [];
  const given = wanted.filter((role) => !roles.includes(role));
  const taken = roles.filter((role) => !wanted.includes(role));
  return given.length + taken.length === 0 ? [] : [{ type: 'ROLES_CHANGED', data: { given, taken, by: SETUP, at } }];
}

const isSetup = ({ kind, id }: Actor): boolean => kind === SETUP.kind && id === SETUP.id;
