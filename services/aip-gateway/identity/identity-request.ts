import { z } from 'zod';
import { parseWith, sentenceOf, parseJson, type RefusalCode } from '#proto';
import { CREDENTIAL_CHARS_MAX } from './bearer.js';
import { isFromAllowedOrigin, urlOf, type RequestHead } from './handshake.js';

export const IDENTITY_BODY_BYTES_MAX = 8 * 1024;
const TOKEN_CHARS_MAX = 512;

const assertion = z.string().min(1).max(CREDENTIAL_CHARS_MAX);
/** `POST /v1/join`: a join token, and the key that is to be bound. */
const JoinBody = z.strictObject({ token: z.string().min(1).max(TOKEN_CHARS_MAX), assertion });
/** `POST /v1/credential`: signed with the key that was bound. */
const CredentialBody = z.strictObject({ assertion });

export type IdentityRequest =
  | { readonly kind: 'join'; readonly token: string; readonly assertion: string }
  | { readonly kind: 'renew'; readonly assertion: string };

const ROUTES: ReadonlyMap<string, IdentityRequest['kind']> = new Map([
  ['/v1/join', 'join'],
  ['/v1/credential', 'renew'],
]);

/** What can be said about a plain HTTP request before its body is read; undefined: it is about something else. */
export type IdentityRoute =
  | { readonly kind: IdentityRequest['kind'] }
  | { readonly kind: 'refused'; readonly status: 403 | 405; readonly message: string };

export function readRoute(head: RequestHead, allowedOrigins: readonly string[]): IdentityRoute | undefined {
  const kind = ROUTES.get(urlOf(head)?.pathname ?? '');
  if (kind === undefined) return undefined;
  if (!isFromAllowedOrigin(head, allowedOrigins)) {
    return { kind: 'refused', status: 403, message: 'Pages of other sites may not ask this.' };
  }
  return head.method === 'POST' ? { kind } : { kind: 'refused', status: 405, message: 'This takes POST only.' };
}

export type ReadBody =
  { readonly ok: true; readonly request: IdentityRequest } | { readonly ok: false; readonly message: string };

/** The message names fields, never what stands in them. */
export function readIdentityBody(kind: IdentityRequest['kind'], text: string): ReadBody {
  const json = parseJson(text);
  if (json === undefined) return { ok: false, message: 'The body is not JSON.' };
  if (kind === 'join') {
    const body = parseWith(JoinBody, json);
    return body.ok ? { ok: true, request: { kind, ...body.value } } : { ok: false, message: wrong(body.issues) };
  }
  const body = parseWith(CredentialBody, json);
  return body.ok ? { ok: true, request: { kind, ...body.value } } : { ok: false, message: wrong(body.issues) };
}

/** The status that says what the sender can do about a refusal of the registry. */
export function identityStatusOf(code: RefusalCode): 400 | 401 | 403 | 409 | 410 | 503 {
  return STATUS_BY_CODE[code] ?? 403;
}

const STATUS_BY_CODE: Readonly<Partial<Record<RefusalCode, 400 | 401 | 403 | 409 | 410 | 503>>> = {
  INVALID_JSON: 400,
  INVALID_REQUEST: 400,
  TOO_LARGE: 400,
  UNAUTHORIZED: 401,
  TOKEN_UNKNOWN: 401,
  CLOCK_SKEW: 401,
  NOT_FOUND: 401,
  TOKEN_USED: 409,
  TOKEN_EXPIRED: 410,
  TRY_AGAIN: 503,
  STORAGE_FULL: 503,
};

const wrong = (issues: Parameters<typeof sentenceOf>[0][]): string => issues.map(sentenceOf).join('; ');
