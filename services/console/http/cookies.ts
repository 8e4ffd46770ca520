/** The value of a cookie in a request's `Cookie` header; the first one of that name counts (RFC 6265, 5.4). */
export function cookieOf(header: string | undefined, name: string): string | undefined {
  for (const pair of (header ?? '').split(';')) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}

export interface CookieSpec {
  readonly name: string;
  /** Over https only, for this host only (RFC 6265bis, 4.1.3.2); the name has to begin with `__Host-` then. */
  readonly secure: boolean;
  /** Seconds. */
  readonly maxAge: number;
}

/**
 * `SameSite=Lax`: with `Strict` the browser would leave it out after the identity provider has sent it back here, and when somebody
 * follows a link from a chat to a run. What changes something is asked with more than the cookie.
 */
export function setCookie({ name, secure, maxAge }: CookieSpec, value: string): string {
  return [
    `${name}=${value}`,
    'Path=/',
    `Max-Age=${maxAge}`,
    'HttpOnly',
    'SameSite=Lax',
    ...(secure ? ['Secure'] : []),
  ].join('; ');
}

/** The name of a cookie that only this host can set, where the browser can be asked for that. */
export function cookieName(name: string, secure: boolean): string {
  return secure ? `__Host-${name}` : name;
}
