import type { Actor, DatedKey, Login, NamedToken, Role, Vouched } from '#proto';

/** Where request ids of the built-in users are unique; part of the hash that gives the run id. */
export const DEFAULT_NAMESPACE = 'default';
/** Issuer of what the system itself gives out. */
export const OWN_ISSUER = 'orrery';
/** What a login with the console's first token is called. */
export const ADMIN_TOKEN_SUBJECT = 'admin-token';
/** What a login with a named token is called, before the id of the token. */
export const TOKEN_SUBJECT = 'token:';
/** What a login with a code is called, before the public key that has signed it. */
export const KEY_SUBJECT = 'key:';
/** Issuer of the clients of a gateway, who have shown it a token that the registry knows. */
export const AIP_ISSUER = 'aip';

/** Who sends a command, and where its request ids are unique. */
export interface KnownSender {
  readonly actor: Actor;
  readonly namespace: string;
}

const CONSOLE = 'console';
const AIP_GATEWAY = 'aip-gateway';
/** The first person of an installation: a terminal and a browser of hers are one. */
export const FIRST_PERSON: Actor = { kind: 'person', id: 'cli' };

/** A client of a gateway as an actor; nobody else can be called so. */
export const clientActor = (clientId: string): Actor => ({ kind: 'external', id: `${AIP_ISSUER}:${clientId}` });

/** What a gateway says of a client whose task it sends. `session`: of its connection. */
export function clientVouched(clientId: string, session: string): Vouched {
  return { actor: clientActor(clientId).id, issuer: AIP_ISSUER, subject: clientId, session };
}

/** What is known of somebody in whose name a command is sent. */
export interface KnownLogin extends KnownSender {
  readonly roles: readonly Role[];
  readonly keys: readonly DatedKey[];
  readonly tokens: readonly NamedToken[];
  readonly logins: readonly Login[];
  readonly isRevoked: boolean;
}

type VouchedSender = KnownSender & { readonly roles: readonly Role[] };

interface Occasion {
  /** By actor id, as the registry says now. */
  readonly known: (actorId: string) => KnownLogin | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * For whom a signer speaks, and with which roles; a sentence when it may not. A gateway speaks for its clients and for nobody
 * else; the console for who is known by the login or the token that it names, and no further than that token goes.
 */
export function vouchedBy(signer: Actor, vouched: Vouched, { known, now }: Occasion): VouchedSender | string {
  const { issuer, subject, actor: id } = vouched;
  const client = clientActor(subject);
  if (signer.id === AIP_GATEWAY && issuer === AIP_ISSUER && id === client.id) {
    return { actor: client, namespace: DEFAULT_NAMESPACE, roles: CLIENT_ROLES };
  }
  const entry = signer.id === CONSOLE ? known(id) : undefined;
  const scopes = entry === undefined || entry.isRevoked ? undefined : scopesOf(entry, vouched, now);
  if (entry === undefined || scopes === undefined) {
    return `${signer.id} may not speak for ${id}, logged in as ${subject} at ${issuer}.`;
  }
  const { actor, namespace, roles } = entry;
  return { actor, namespace, roles: roles.filter((role) => scopes.includes(role)) };
}

/** A client of a gateway is in no directory: that it is let in at all, its gateway has seen to. */
const CLIENT_ROLES: readonly Role[] = ['requester'];

/** How far a login goes; undefined when it is none of this actor, or is over. */
function scopesOf(
  { actor, roles, keys, tokens, logins }: KnownLogin,
  { issuer, subject }: Vouched,
  now: number,
): readonly Role[] | undefined {
  if (issuer !== OWN_ISSUER) {
    return logins.some((login) => login.issuer === issuer && login.subject === subject) ? roles : undefined;
  }
  if (subject === ADMIN_TOKEN_SUBJECT) return actor.id === FIRST_PERSON.id ? roles : undefined;
  if (subject.startsWith(KEY_SUBJECT)) {
    return logsInByKey({ actor, keys }, subject.slice(KEY_SUBJECT.length)) ? roles : undefined;
  }
  const token = tokens.find(({ tokenId }) => subject === `${TOKEN_SUBJECT}${tokenId}`);
  return token === undefined || (token.expiresAt !== null && Date.parse(token.expiresAt) <= now)
    ? undefined
    : token.scopes;
}

/** Whether who holds this key may log in with it: a person may, for as long as the key counts. */
export function logsInByKey({ actor, keys }: Pick<KnownLogin, 'actor' | 'keys'>, key: string): boolean {
  return actor.kind === 'person' && keys.some((one) => one.key === key && one.until === undefined);
}
