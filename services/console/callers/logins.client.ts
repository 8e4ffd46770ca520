import { readFileSync } from 'node:fs';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { isTokenOf, tokenHash } from '#libs/keys';
import {
  ADMIN_TOKEN_SUBJECT,
  entryValue,
  followBucket,
  OWN_ISSUER,
  type BucketLook,
  type Following,
} from '#libs/messaging';
import type { Clock } from '#libs/platform';
import { ActorEntry, BUCKETS, type Login } from '#proto';
import type { ConsoleCaller } from './caller.js';
import { KnownLogins } from './known-logins.js';

/** How long what was read from the file of the admin token counts. */
const FILE_MS = 1_000;
const WARN_MS = 60 * 60 * 1_000;

export interface LoginsParts {
  readonly nc: NatsConnection;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Holds the SHA-256 of the token of the first start in hex, or `off`. */
  readonly adminTokenFile: string;
}

type Found = Omit<ConsoleCaller, 'session'>;

/**
 * Who may come in, by token or login: what the registry tells in the bucket ACTORS, and the token of the first start. When the bucket
 * cannot be followed for a while, what was known stays known; who was revoked is refused by whoever decides.
 */
export class Logins {
  readonly #parts: LoginsParts;
  readonly #stopped = new AbortController();
  #known = new KnownLogins([]);
  #following: Following | undefined;
  #adminHash: { readonly hash: string | undefined; readonly readAt: number } | undefined;
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: LoginsParts) {
    this.#parts = parts;
  }

  /** Resolves when everybody is known who is there; throws while the bucket cannot be read. */
  async begin(): Promise<void> {
    const { nc, logger } = this.#parts;
    const { signal } = this.#stopped;
    const report = (err: unknown): void => logger.warn({ err }, 'the bucket of actors: interrupted');
    this.#following = followBucket(nc, { bucket: BUCKETS.ACTORS.bucket, look: () => this.#look(), report, signal });
    await this.#following.loaded;
  }

  async end(): Promise<void> {
    this.#stopped.abort();
    await this.#following?.over;
  }

  /** By a bearer token. */
  ofToken(token: string): Found | undefined {
    const now = this.#parts.clock.now();
    return this.#known.ofToken(tokenHash(token), now) ?? this.#ofAdminToken(token, now);
  }

  /** By the public key that has signed a code. */
  ofKey(key: string): Found | undefined {
    return this.#known.ofKey(key);
  }

  /** By what a session was begun with. */
  ofLogin(login: Login): Found | undefined {
    const found = this.#known.ofLogin(login, this.#parts.clock.now());
    if (found === undefined || found.subject !== ADMIN_TOKEN_SUBJECT || found.issuer !== OWN_ISSUER) return found;
    return this.#adminTokenHash() === undefined ? undefined : found;
  }

  /** Whether nobody else is there who may approve what this person has asked for. */
  isOnlyApprover(id: string): boolean {
    return this.#known.isOnlyApprover(id);
  }

  #ofAdminToken(token: string, now: number): Found | undefined {
    const hash = this.#adminTokenHash();
    if (hash === undefined || !isTokenOf(token, hash)) return undefined;
    if (this.#known.hasAdministrator(now) && now - this.#warnedAt >= WARN_MS) {
      this.#warnedAt = now;
      this.#parts.logger.warn(
        'the admin token of the first start was used, and administrators have logins of their own: turn it off',
      );
    }
    return this.#known.ofAdminToken();
  }

  /** Undefined when it is turned off, or cannot be read. A line of a file here, once a second at most: nobody has to wait for it. */
  #adminTokenHash(): string | undefined {
    const now = this.#parts.clock.now();
    if (this.#adminHash === undefined || Math.abs(now - this.#adminHash.readAt) >= FILE_MS) {
      this.#adminHash = { hash: readHash(this.#parts.adminTokenFile), readAt: now };
    }
    return this.#adminHash.hash;
  }

  #look(): BucketLook {
    const entries = new Map<string, ActorEntry>();
    return {
      take: (entry) => {
        const actor = entryValue(entry, ActorEntry);
        if (actor === undefined) entries.delete(entry.key);
        else entries.set(entry.key, actor);
      },
      complete: () => {
        this.#known = new KnownLogins(entries.values());
      },
    };
  }
}

function readHash(file: string): string | undefined {
  try {
    return /^[0-9a-f]{64}$/u.exec(readFileSync(file, 'utf8').trim().toLowerCase())?.[0];
  } catch {
    return undefined;
  }
}
