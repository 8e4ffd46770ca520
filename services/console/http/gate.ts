import { createHash, timingSafeEqual } from 'node:crypto';

/** What a request says of itself before anything of it is believed. */
export interface Knock {
  readonly path: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly authorization: string | undefined;
}

export interface GateRules {
  readonly tokenHash: Buffer;
  /** Besides the names of this machine for itself. */
  readonly hosts: readonly string[];
}

export type GateVerdict =
  { readonly kind: 'enter' } | { readonly kind: 'refuse'; readonly status: 401 | 403; readonly message: string };

const LOOPBACK_HOSTS = ['127.0.0.1', 'localhost', '[::1]'];
/** For supervisors and scrapers, which know neither our names nor our token. */
const PROBES = new Set(['/healthz', '/readyz', '/metrics']);
/** Says what the interface looks like, nothing about this system. */
const PUBLIC = new Set(['/openapi.json']);

/**
 * Deny by default: a path that is not listed needs the token. A name in `Host` that is not ours means that somebody else's
 * page was pointed at this address (DNS rebinding); a foreign `Origin` means that such a page asks.
 */
export function judge({ path, host, origin, authorization }: Knock, { tokenHash, hosts }: GateRules): GateVerdict {
  if (PROBES.has(path)) return { kind: 'enter' };
  const allowed = new Set([...LOOPBACK_HOSTS, ...hosts]);
  if (!allowed.has(hostnameOf(`http://${host ?? ''}`) ?? '')) {
    return { kind: 'refuse', status: 403, message: 'The name in Host is not one of this console.' };
  }
  if (origin !== undefined && !allowed.has(hostnameOf(origin) ?? '')) {
    return { kind: 'refuse', status: 403, message: 'Pages of other origins may not use this console.' };
  }
  if (PUBLIC.has(path) || isToken(authorization, tokenHash)) return { kind: 'enter' };
  return { kind: 'refuse', status: 401, message: 'Send the admin token as "Authorization: Bearer <token>".' };
}

function isToken(authorization: string | undefined, tokenHash: Buffer): boolean {
  const [, token] = /^Bearer +([\x21-\x7e]{1,512})$/iu.exec(authorization ?? '') ?? [];
  if (token === undefined) return false;
  return timingSafeEqual(createHash('sha256').update(token).digest(), tokenHash);
}

function hostnameOf(url: string): string | undefined {
  if (!/^https?:\/\/[^/?#@\\\s]+$/iu.test(url) || !URL.canParse(url)) return undefined;
  return new URL(url).hostname.toLowerCase();
}
