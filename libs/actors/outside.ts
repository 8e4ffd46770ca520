import { feedDurable, sameJson, type DurableSpec } from '#proto';
import type { ActorState } from './actor-state.js';
import { SETUP } from './first.js';

/** A service of the installation itself: its roles come with its version. */
export function isService({ actor, addedBy }: ActorState): boolean {
  return actor.kind === 'system' && sameJson(addedBy, SETUP);
}

/** A system that is none of the installation's own: it has an account of its own on the bus, and limits. */
export function isOutside(state: ActorState): boolean {
  return state.actor.kind !== 'person' && !isService(state);
}

/**
 * By which a system outside follows its feed: from its first key on until it is revoked, also while it has none, so that a new key
 * goes on where the one before was. Undefined for everybody else.
 */
export function feedOf(state: ActorState): DurableSpec | undefined {
  const { actor, limits, keys, revokedAt } = state;
  if (!isOutside(state) || revokedAt !== null || keys.length === 0) return undefined;
  return feedDurable(actor.id, limits.feed);
}
