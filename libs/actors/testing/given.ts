import type { Actor, ActorEvent, ActorId, Role } from '#proto';
import { NO_COMMITS, sealNext } from '#libs/event-log';
import { SETUP } from '../first.js';
import { Roster } from '../roster.js';

export const T0 = Date.parse('2026-11-20T12:00:00.000Z');
export const at = (ms: number): string => new Date(T0 + ms).toISOString();
export const ANNA: Actor = { kind: 'person', id: 'anna' };
export const BERT: Actor = { kind: 'person', id: 'bert' };

/** Public keys as they look, one for each letter. */
export const keyOf = (letter: string): string => `U${letter.repeat(55)}`;
export const hashOf = (digit: string): string => digit.repeat(64);

export const added = (actor: Actor, roles: Role[] = ['viewer'], by: Actor = SETUP): ActorEvent => ({
  type: 'ACTOR_ADDED',
  data: { actor, roles, namespace: actor.id, by, at: at(0) },
});
export const keyAdded = (key: string, by: Actor = SETUP): ActorEvent => ({
  type: 'KEY_ADDED',
  data: { key, by, at: at(0) },
});
export const tokenIssued = (tokenId: string, digit: string, scopes: Role[] = ['viewer']): ActorEvent => ({
  type: 'TOKEN_ISSUED',
  data: { tokenId, tokenHash: hashOf(digit), scopes, label: '', expiresAt: null, by: SETUP, at: at(0) },
});
export const loginBound = (subject: string): ActorEvent => ({
  type: 'LOGIN_BOUND',
  data: { issuer: 'https://login.example.org', subject, by: SETUP, at: at(0) },
});

/** Stores these facts behind what there is, as the registry does: one commit. */
export function store(roster: Roster, actorId: ActorId, events: readonly ActorEvent[], commandId?: string): void {
  const sequence = roster.position + 1;
  const commit = sealNext(roster.endOf(actorId) ?? NO_COMMITS, { actorId }, events, {
    commit: `01JD${String(sequence).padStart(22, '0')}`,
    now: T0,
    by: { service: 'registry', instance: 'a' },
    causes: commandId === undefined ? [] : [{ kind: 'request', id: commandId }],
  });
  roster.apply({ commit, sequence });
}

/** All actors after these facts, by actor. */
export function given(facts: Readonly<Record<ActorId, readonly ActorEvent[]>>): Roster {
  const roster = new Roster();
  for (const [actorId, events] of Object.entries(facts)) store(roster, actorId, events);
  return roster;
}
