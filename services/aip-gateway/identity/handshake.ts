import { isCredential, isToken } from './bearer.js';

/** What can be said about an upgrade request before anybody is asked. */
export type Handshake =
  | { readonly kind: 'bearer'; readonly bearer: string; readonly foreign: boolean }
  | { readonly kind: 'refused'; readonly status: 400 | 401 | 403 | 404 };

export interface RequestHead {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

const PATH = '/ws';
const URL_CHARS_MAX = 2_048;
const BEARER = /^Bearer +(\S+)$/iu;

/**
 * Reads the token or credential: our devices send a header; clients of other systems can only put their token into the URL,
 * and they are foreign for that. A credential in a URL is refused: who has one can send headers, and a URL ends up in logs.
 */
export function readHandshake(request: RequestHead, allowedOrigins: readonly string[]): Handshake {
  const { method, headers } = request;
  const url = urlOf(request);
  if (method !== 'GET' || url === undefined) return refused(400);
  if (url.pathname !== PATH) return refused(404);
  if (!isFromAllowedOrigin(request, allowedOrigins)) return refused(403);
  const { authorization } = headers;
  if (authorization !== undefined) {
    const [, bearer = ''] = (typeof authorization === 'string' && BEARER.exec(authorization)) || [];
    return isCredential(bearer) || isToken(bearer) ? { kind: 'bearer', bearer, foreign: false } : refused(401);
  }
  const bearer = url.searchParams.get('token') ?? '';
  return isToken(bearer) && !isCredential(bearer) ? { kind: 'bearer', bearer, foreign: true } : refused(401);
}

/** A page in a browser (it sends Origin) needs to be on the list, or any site could drive a socket; a program sends none. */
export function isFromAllowedOrigin({ headers: { origin } }: RequestHead, allowedOrigins: readonly string[]): boolean {
  return origin === undefined || (typeof origin === 'string' && allowedOrigins.includes(origin));
}

/** Undefined for what is no URL, or too long for one. */
export function urlOf({ url = '' }: RequestHead): URL | undefined {
  return url.length <= URL_CHARS_MAX && URL.canParse(url, BASE) ? new URL(url, BASE) : undefined;
}

const BASE = 'ws://gateway';

const refused = (status: 400 | 401 | 403 | 404): Handshake => ({ kind: 'refused', status });
