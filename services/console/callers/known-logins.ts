import {
  ADMIN_TOKEN_SUBJECT,
  FIRST_PERSON,
  KEY_SUBJECT,
  logsInByKey,
  OWN_ISSUER,
  TOKEN_SUBJECT,
} from '#libs/messaging';
import { Role, type ActorEntry, type Login, type NamedToken } from '#proto';
import type { ConsoleCaller } from './caller.js';

type Known = Omit<ConsoleCaller, 'session'>;

/** Who may log in, by what: as the registry last told it. Times are milliseconds since the epoch. */
export class KnownLogins {
  readonly #actors = new Map<string, ActorEntry>();
  readonly #byToken = new Map<string, readonly [ActorEntry, NamedToken]>();
  readonly #byKey = new Map<string, ActorEntry>();
  readonly #byLogin = new Map<string, ActorEntry>();
  readonly #tokens = new Map<string, NamedToken>();

  constructor(entries: Iterable<ActorEntry>) {
    for (const entry of entries) {
      this.#actors.set(entry.actor.id, entry);
      if (entry.revokedAt !== undefined) continue;
      for (const token of entry.tokens) {
        this.#byToken.set(token.tokenHash, [entry, token]);
        this.#tokens.set(token.tokenId, token);
      }
      for (const { key } of entry.keys) if (logsInByKey(entry, key)) this.#byKey.set(key, entry);
      for (const login of entry.logins) this.#byLogin.set(nameOf(login), entry);
    }
  }

  /** By the SHA-256 of a token in hex. */
  ofToken(tokenHash: string, now: number): Known | undefined {
    const found = this.#byToken.get(tokenHash);
    if (found === undefined || isOver(found[1], now)) return undefined;
    const [entry, token] = found;
    return known(entry, { issuer: OWN_ISSUER, subject: `${TOKEN_SUBJECT}${token.tokenId}` }, token.scopes);
  }

  /** By the public key that has signed a code. */
  ofKey(key: string): Known | undefined {
    const entry = this.#byKey.get(key);
    return entry && known(entry, { issuer: OWN_ISSUER, subject: `${KEY_SUBJECT}${key}` });
  }

  /** By what an issuer says; what the system itself has given out are tokens and keys. */
  ofLogin(login: Login, now: number): Known | undefined {
    if (login.issuer !== OWN_ISSUER) {
      const entry = this.#byLogin.get(nameOf(login));
      return entry && known(entry, login);
    }
    if (login.subject === ADMIN_TOKEN_SUBJECT) return this.ofAdminToken();
    if (login.subject.startsWith(KEY_SUBJECT)) return this.ofKey(login.subject.slice(KEY_SUBJECT.length));
    const token = this.#tokens.get(login.subject.slice(TOKEN_SUBJECT.length));
    return token && login.subject.startsWith(TOKEN_SUBJECT) ? this.ofToken(token.tokenHash, now) : undefined;
  }

  /** The first person; also while the registry has told of nobody, so that the first start has an end. */
  ofAdminToken(): Known | undefined {
    const login = { issuer: OWN_ISSUER, subject: ADMIN_TOKEN_SUBJECT };
    const entry = this.#actors.get(FIRST_PERSON.id);
    if (entry !== undefined) return entry.revokedAt === undefined ? known(entry, login) : undefined;
    if (this.#actors.size > 0) return undefined;
    return { actor: FIRST_PERSON, roles: Role.options, namespace: 'default', ...login };
  }

  /** Whether this person may approve, and no other living person may. */
  isOnlyApprover(id: string): boolean {
    const approvers = [...this.#actors.values()].filter(
      ({ actor, roles, revokedAt }) => actor.kind === 'person' && roles.includes('approver') && revokedAt === undefined,
    );
    return approvers.length === 1 && approvers[0]?.actor.id === id;
  }

  /** Whether an administrator can log in without the token of the first start. */
  hasAdministrator(now: number): boolean {
    return [...this.#actors.values()].some(({ roles, tokens, logins, revokedAt }) => {
      if (revokedAt !== undefined || !roles.includes('admin')) return false;
      return logins.length > 0 || tokens.some((token) => token.scopes.includes('admin') && !isOver(token, now));
    });
  }
}

function known({ actor, roles, namespace }: ActorEntry, login: Login, scopes: readonly Role[] = roles): Known {
  return { actor, roles: roles.filter((role) => scopes.includes(role)), namespace, ...login };
}

function isOver({ expiresAt }: NamedToken, now: number): boolean {
  return expiresAt !== null && Date.parse(expiresAt) <= now;
}

const nameOf = ({ issuer, subject }: Login): string => JSON.stringify([issuer, subject]);

/** Which token a caller has come in with; undefined for another login. */
export function tokenIdOf({ issuer, subject }: Login): string | undefined {
  const isToken = issuer === OWN_ISSUER && subject.startsWith(TOKEN_SUBJECT);
  return isToken ? subject.slice(TOKEN_SUBJECT.length) : undefined;
}
