import { LIMITS, type Actor, type FleetCommit, type GrantSelection, type RevokedGrants } from '#proto';
import type { FleetDecision } from './decide.js';

/** One recorded revocation. */
export interface GrantRevocation {
  /** Of its event: nothing else ever has it, in the log or in a bucket. */
  readonly sequence: number;
  readonly revoked: RevokedGrants;
}

export interface GrantOrder {
  readonly grants: GrantSelection;
  /** Proven, like the key that it was proven with and the time, in milliseconds, that the sender's clock showed. */
  readonly by: Actor;
  readonly key: string;
  readonly signedAt: number;
  /** For people; empty when nothing was said. */
  readonly reason: string;
  readonly now: number;
}

/**
 * Any person may take back any single grant, as any person may stop any run; of many at once only her own. The first word on a grant
 * stands. "Until now" is what the later one of two clocks says: the sender's has signed the grants, too.
 */
export function decideGrantRevocation(known: readonly GrantRevocation[], order: GrantOrder): FleetDecision {
  const { grants, by, key, reason, now } = order;
  const stated = { by, reason, revokedAt: new Date(now).toISOString() };
  if (grants.kind !== 'grant') {
    const signedUntil = new Date(Math.max(now, order.signedAt)).toISOString();
    return accepted({ ...stated, grants: { ...grants, key, signedUntil } });
  }
  const singles = standing(known, now).filter(({ revoked }) => revoked.grants.kind === 'grant');
  const isKnown = singles.some(({ revoked }) => isOf(revoked, grants.grantId));
  if (isKnown) return { kind: 'ignored', reason: 'ALREADY_REVOKED' };
  const own = singles.filter(({ revoked }) => revoked.by.kind === by.kind && revoked.by.id === by.id);
  if (own.length >= LIMITS.grantRevocationsMax) return { kind: 'rejected', reason: 'TOO_MANY_GRANTS' };
  return accepted({ ...stated, grants });
}

/** Those by which a grant could still be meant. */
export function standing(known: readonly GrantRevocation[], now: number): readonly GrantRevocation[] {
  return known.filter(({ revoked }) => Date.parse(revoked.revokedAt) + LIMITS.grantRevocationMs > now);
}

/** Folds a stored commit of GRANTS_ID; what nobody needs any more by then is left out. */
export function evolveGrantRevocations(
  known: readonly GrantRevocation[],
  commit: FleetCommit,
): readonly GrantRevocation[] {
  const more = commit.events.map(({ sequence, type, data }): GrantRevocation => {
    if (type !== 'GRANTS_REVOKED') throw new Error(`${type} cannot be said of grants`);
    return { sequence, revoked: data };
  });
  return [...standing(known, Date.parse(commit.at)), ...more];
}

function isOf({ grants }: RevokedGrants, grantId: string): boolean {
  return grants.kind === 'grant' && grants.grantId === grantId;
}

function accepted(data: RevokedGrants): FleetDecision {
  return { kind: 'accepted', events: [{ type: 'GRANTS_REVOKED', data }] };
}
