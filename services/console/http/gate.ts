import { bearerToken, isToken } from '#libs/keys';

/** What a request says of itself before anything of it is believed. */
export interface Knock {
  readonly path: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly authorization: string | undefined;
}

export interface GateRules {
  /** In hex. */
  readonly tokenHash: string;
  /** Besides the names of this machine for itself. */
  readonly hosts: readonly string[];
}

export type GateVerdict =
  /** `caller` is empty for who needs no token. */
  | { readonly kind: 'enter'; readonly caller: string }
  | { readonly kind: 'refuse'; readonly status: 401 | 403; readonly message: string };

const ADMIN = 'admin-token';
const LOOPBACK_HOSTS = ['127.0.0.1', 'localhost', '[::1]'];
/** For supervisors and scrapers, which know neither our names nor our token; metrics have a token of their own. */
const PROBES = new Set(['/healthz', '/readyz', '/metrics']);
/** Says what the interface looks like, nothing about this system. */
const PUBLIC = new Set(['/openapi.json']);

/**
 * Deny by default: a path that is not listed needs the token. A name in `Host` that is not ours means that somebody else's
 * page was pointed at this address (DNS rebinding); a foreign `Origin` means that such a page asks.
 */
export function judge({ path, host, origin, authorization }: Knock, { tokenHash, hosts }: GateRules): GateVerdict {
  if (PROBES.has(path)) return { kind: 'enter', caller: '' };
  const allowed = new Set([...LOOPBACK_HOSTS, ...hosts]);
  if (!allowed.has(hostnameOf(`http://${host ?? ''}`) ?? '')) {
    return { kind: 'refuse', status: 403, message: 'The name in Host is not one of this console.' };
  }
  if (origin !== undefined && !allowed.has(hostnameOf(origin) ?? '')) {
    return { kind: 'refuse', status: 403, message: 'Pages of other origins may not use this console.' };
  }
  const token = bearerToken(authorization);
  if (token !== undefined && isToken(token, tokenHash)) return { kind: 'enter', caller: ADMIN };
  if (PUBLIC.has(path)) return { kind: 'enter', caller: '' };
  return { kind: 'refuse', status: 401, message: 'Send the admin token as "Authorization: Bearer <token>".' };
}

function hostnameOf(url: string): string | undefined {
  if (!/^https?:\/\/[^/?#@\\\s]+$/iu.test(url) || !URL.canParse(url)) return undefined;
  return new URL(url).hostname.toLowerCase();
}
