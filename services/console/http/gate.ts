/** What a request says of itself before anything of it is believed. */
export interface Knock {
  readonly path: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
}

/** `open`: for anybody. `login`: for those who can say who they are. */
export type GateVerdict =
  { readonly kind: 'open' | 'login' } | { readonly kind: 'refuse'; readonly status: 403; readonly message: string };

const LOOPBACK_HOSTS = ['127.0.0.1', 'localhost', '[::1]'];
/** For supervisors and scrapers, which know neither our names nor our tokens; metrics have a token of their own. */
const PROBES = new Set(['/healthz', '/readyz', '/metrics']);
/** Says what the interfaces look like, and lets people in; nothing about this system. */
const PUBLIC = new Set([
  '/openapi.json',
  '/asyncapi.json',
  '/login',
  '/login/code',
  '/login/start',
  '/login/callback',
  '/logout',
]);

export function isProbe(path: string): boolean {
  return PROBES.has(path);
}

/**
 * Deny by default: a path that is not listed needs a login. A name in `Host` that is not ours means that somebody else's
 * page was pointed at this address (DNS rebinding); a foreign `Origin` means that such a page asks.
 * @param hosts besides the names of this machine for itself
 */
export function judge({ path, host, origin }: Knock, hosts: readonly string[]): GateVerdict {
  if (PROBES.has(path)) return { kind: 'open' };
  const allowed = new Set([...LOOPBACK_HOSTS, ...hosts]);
  if (!allowed.has(hostnameOf(`http://${host ?? ''}`) ?? '')) {
    return { kind: 'refuse', status: 403, message: 'The name in Host is not one of this console.' };
  }
  if (origin !== undefined && !allowed.has(hostnameOf(origin) ?? '')) {
    return { kind: 'refuse', status: 403, message: 'Pages of other origins may not use this console.' };
  }
  return { kind: PUBLIC.has(path) ? 'open' : 'login' };
}

function hostnameOf(url: string): string | undefined {
  if (!/^https?:\/\/[^/?#@\\\s]+$/iu.test(url) || !URL.canParse(url)) return undefined;
  return new URL(url).hostname.toLowerCase();
}
