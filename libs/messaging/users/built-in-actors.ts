import type { Actor, Role } from '#proto';
import { natsUsers } from './nats-users.js';
import { DEFAULT_NAMESPACE } from './vouching.js';

/** What somebody is trusted with. */
export interface Trusted {
  readonly actor: Actor;
  readonly roles: readonly Role[];
  readonly namespace: string;
  /** It may say in whose name it sends a command. */
  readonly mayVouch: boolean;
}

/** The actor behind a user of the bus, with what this version trusts it with at first; undefined for another one. */
export function builtInActor(actorId: string): Trusted | undefined {
  const user = natsUsers().find(({ actor }) => actor?.id === actorId);
  if (user?.actor === undefined) return undefined;
  const { actor, roles = [], mayVouch = false } = user;
  return { actor, roles, namespace: DEFAULT_NAMESPACE, mayVouch };
}

/** What version 0.1.0 let somebody do who is no user of the bus by name: it knew kinds, and no roles. */
export function trustedBefore(actor: Actor): Trusted {
  return { actor, roles: ROLES_BEFORE[actor.kind], namespace: DEFAULT_NAMESPACE, mayVouch: false };
}

const ROLES_BEFORE: Readonly<Record<Actor['kind'], readonly Role[]>> = {
  person: ['viewer', 'requester', 'approver', 'operator', 'auditor'],
  system: ['requester', 'operator'],
  external: ['requester'],
};
