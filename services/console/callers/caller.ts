import { mayDo, missingRole, type Actor, type ActionName, type Role, type Vouched } from '#proto';

/** Who was let in, and by what. */
export interface ConsoleCaller {
  readonly actor: Actor;
  /** What he may do here: the roles of the actor, as far as the token goes. */
  readonly roles: readonly Role[];
  readonly namespace: string;
  /** Who said who it is, and what it calls him. */
  readonly issuer: string;
  readonly subject: string;
  /** Names the login; nothing can be opened with it. */
  readonly session: string;
}

/** What the console says about a caller to who decides. */
export function vouchedFor({ actor, issuer, subject, session }: ConsoleCaller): Vouched {
  return { actor: actor.id, issuer, subject, session };
}

/** Undefined when the caller may do it; otherwise why not. What is his own is known to who decides only: here it may be. */
export function roleRefusal({ actor, roles }: ConsoleCaller, action: ActionName): string | undefined {
  if (mayDo(roles, action, { own: true })) return undefined;
  return `${missingRole(action, actor, roles)}.`;
}
