/** What can be said about an upgrade request before anybody is asked. */
export type Handshake =
  | { readonly kind: 'credential'; readonly token: string; readonly foreign: boolean }
  | { readonly kind: 'refused'; readonly status: 400 | 401 | 403 | 404 };

export interface UpgradeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

const PATH = '/ws';
const URL_CHARS_MAX = 2_048;
const TOKEN = /^[\x21-\x7e]{1,512}$/u;
const BEARER = /^Bearer +(\S+)$/iu;

/**
 * Reads the credential: our devices send a header; clients of other systems can only put it into the URL, and they are
 * foreign for that. A page in a browser (it sends Origin) needs to be on the list, or any site could drive a socket.
 */
export function readHandshake(request: UpgradeRequest, allowedOrigins: readonly string[]): Handshake {
  const { method, url = '', headers } = request;
  if (method !== 'GET' || url.length > URL_CHARS_MAX || !URL.canParse(url, BASE)) return refused(400);
  const { pathname, searchParams } = new URL(url, BASE);
  if (pathname !== PATH) return refused(404);
  const { origin, authorization } = headers;
  if (origin !== undefined && (typeof origin !== 'string' || !allowedOrigins.includes(origin))) return refused(403);
  if (authorization !== undefined) {
    const [, token] = (typeof authorization === 'string' && BEARER.exec(authorization)) || [];
    return credential(token, false);
  }
  return credential(searchParams.get('token') ?? undefined, true);
}

const BASE = 'ws://gateway';

const refused = (status: 400 | 401 | 403 | 404): Handshake => ({ kind: 'refused', status });

const credential = (token: string | undefined, foreign: boolean): Handshake =>
  token !== undefined && TOKEN.test(token) ? { kind: 'credential', token, foreign } : refused(401);
