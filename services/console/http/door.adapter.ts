import type { IncomingMessage, ServerResponse } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import { bearerToken, tokenHash } from '#libs/keys';
import { LIMITS } from '#proto';
import { isAppPath, type AppFiles } from '../app/index.js';
import {
  csrfTokenOf,
  isSessionId,
  sessionName,
  type ConsoleCaller,
  type Logins,
  type Sessions,
} from '../callers/index.js';
import { ConsoleAdmission, type CalledRequest, type HttpMiddleware } from './admission.adapter.js';
import { cookieName, cookieOf, type CookieSpec } from './cookies.js';
import { isProbe, judge, type GateVerdict } from './gate.js';
import { RefusedError } from './refusal.js';
import { isRead, isSameOrigin } from './same-origin.js';
import { refuseUnread } from './send.js';

/** How often it is looked whether those who listen may still do so. */
const LOOK_MS = 2_000;
const CSRF_HEADER = 'x-orrery-csrf';
const SESSION = 'orrery-session';

/** Nothing may be loaded, framed, sniffed, stored or referred to; pages for people say what more they need. */
const HEADERS = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  // Not `no-referrer`: with that a browser says `Origin: null` with the forms of our own pages.
  'Referrer-Policy': 'same-origin',
  'Cache-Control': 'no-store',
} as const;

const NO_LOGIN = 'Send a token as "Authorization: Bearer <token>", or log in at /login.';
const NOT_OURS = 'A socket with a cookie is for pages of this console.';
const NO_CSRF = `A change with a cookie needs the header ${CSRF_HEADER} with the token of /v1/me, from a page of this console.`;

export interface DoorParts {
  readonly logins: Pick<Logins, 'ofToken' | 'ofLogin'>;
  readonly sessions: Pick<Sessions, 'find'>;
  /** The web application, which is for anybody. */
  readonly app: Pick<AppFiles, 'serve'>;
  /** Told of every token that lets somebody in. */
  readonly used: (caller: ConsoleCaller) => void;
  /** Told of every token that does not. */
  readonly refused: (request: IncomingMessage) => void;
  /** Further names under which people may reach this console. */
  readonly hosts: readonly string[];
  /** Where browsers reach it, when that is known. */
  readonly origin: string | undefined;
}

/** `unknown`: it cannot be found out now. */
type Found = ConsoleCaller | 'unknown' | undefined;

/** Finds out who asks, by the credential alone; who listens to a stream is asked again and again. */
export class Door {
  readonly #parts: DoorParts;
  readonly #listening = new Map<() => unknown, CalledRequest>();
  #looking: NodeJS.Timeout | undefined;

  constructor(parts: DoorParts) {
    this.#parts = parts;
  }

  /** The cookie of a session. */
  get cookie(): CookieSpec {
    const secure = this.#parts.origin?.startsWith('https:') === true;
    return { name: cookieName(SESSION, secure), secure, maxAge: LIMITS.sessionMs / 1_000 };
  }

  begin(): void {
    this.#looking = setInterval(() => void this.#lookAgain(), LOOK_MS).unref();
  }

  end(): void {
    clearInterval(this.#looking);
  }

  /** The first thing that sees a request; what it refuses is not read any further. */
  readonly gate: HttpMiddleware = (request: CalledRequest, response, next) => {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    if (this.#isForApp(request)) {
      const verdict = this.#judge(request);
      if (verdict.kind === 'refuse') return refuseUnread(response, forbidden(verdict.message));
      return void this.#parts.app.serve(request, response);
    }
    // A token is known at once, so that who is refused has sent as little as can be; a session has to be looked up.
    if (request.headers.authorization !== undefined) this.#decide(request, response, this.#ofToken(request), next);
    else void this.#ofSession(request).then((found) => this.#decide(request, response, found, next));
  };

  /** The id of the session that a request names. */
  sessionId({ headers }: IncomingMessage): string | undefined {
    const id = cookieOf(headers.cookie, this.cookie.name);
    return id !== undefined && isSessionId(id) ? id : undefined;
  }

  /** Whether a page of this console asks for a change, and not another one with the cookie of its visitor. */
  isOurs({ headers }: IncomingMessage): boolean {
    const { host, origin } = headers;
    return isSameOrigin({ host, origin, site: headers['sec-fetch-site']?.toString() }, this.#parts.origin);
  }

  /** Under which name and port people reach this console: the one that was configured, else the one that this request says, which the gate has checked. */
  hostOf({ headers }: IncomingMessage): string {
    const { origin } = this.#parts;
    return origin === undefined ? (headers.host ?? '') : new URL(origin).host;
  }

  /** Who opens a socket, or why he may not. A browser opens one for a page from anywhere and adds the cookie: the page has to be ours. */
  async knock(request: CalledRequest): Promise<ConsoleCaller | RefusedError> {
    const verdict = this.#judge(request);
    if (verdict.kind === 'refuse') return forbidden(verdict.message);
    const byToken = request.headers.authorization !== undefined;
    const found = byToken ? this.#ofToken(request) : await this.#ofSession(request);
    if (found === 'unknown') return unknownNow();
    if (found === undefined && byToken) this.#parts.refused(request);
    if (found === undefined) return new RefusedError({ code: 'UNAUTHORIZED', message: NO_LOGIN });
    if (byToken) this.#parts.used(found);
    else if (!this.isOurs(request)) return forbidden(NOT_OURS);
    request.caller = found;
    return found;
  }

  /** Calls `cut` when who asked for it may not listen any more, until what is returned is called. */
  watch(request: CalledRequest, cut: () => unknown): () => void {
    this.#listening.set(cut, request);
    return () => void this.#listening.delete(cut);
  }

  #judge(request: IncomingMessage): GateVerdict {
    const { host, origin } = request.headers;
    return judge({ path: pathOf(request), host, origin }, this.#parts.hosts);
  }

  /** A page and its files: nobody has to be known for them, so nothing is looked up. */
  #isForApp(request: IncomingMessage): boolean {
    return (request.method === 'GET' || request.method === 'HEAD') && isAppPath(pathOf(request));
  }

  #decide(request: CalledRequest, response: ServerResponse, found: Found, next: () => void): void {
    if (response.destroyed) return;
    const refused = this.#refusalOf(request, response, found);
    if (refused === undefined) next();
    else refuseUnread(response, refused);
  }

  #refusalOf(request: CalledRequest, response: ServerResponse, caller: Found): RefusedError | undefined {
    const verdict = this.#judge(request);
    if (verdict.kind === 'refuse') return forbidden(verdict.message);
    if (isProbe(pathOf(request))) return undefined;
    if (caller === 'unknown') return unknownNow();
    if (caller === undefined) {
      if (request.headers.authorization !== undefined) this.#parts.refused(request);
      if (verdict.kind === 'open') return undefined;
      response.setHeader('WWW-Authenticate', 'Bearer realm="orrery"');
      return new RefusedError({ code: 'UNAUTHORIZED', message: NO_LOGIN });
    }
    request.caller = caller;
    if (request.headers.authorization !== undefined) this.#parts.used(caller);
    if (verdict.kind === 'open') return undefined;
    if (request.headers.authorization === undefined && !isRead(request.method) && !this.#isMeant(request)) {
      return forbidden(NO_CSRF);
    }
    if (isRead(request.method)) this.#listen(request, response);
    return undefined;
  }

  /** A bearer token counts alone: a browser adds cookies by itself, and never a token. */
  #ofToken({ headers }: IncomingMessage): ConsoleCaller | undefined {
    const token = bearerToken(headers.authorization);
    const found = token === undefined ? undefined : this.#parts.logins.ofToken(token);
    return found && { ...found, session: found.subject };
  }

  async #ofSession(request: IncomingMessage): Promise<Found> {
    const id = this.sessionId(request);
    if (id === undefined) return undefined;
    try {
      const session = await this.#parts.sessions.find(id);
      const found = session && this.#parts.logins.ofLogin(session);
      return found?.actor.id === session?.actorId ? found && { ...found, session: sessionName(id) } : undefined;
    } catch {
      return 'unknown';
    }
  }

  #isMeant(request: IncomingMessage): boolean {
    const id = this.sessionId(request);
    const said = request.headers[CSRF_HEADER];
    if (id === undefined || typeof said !== 'string') return false;
    // Compared by their hashes: the time it takes says nothing about either.
    return this.isOurs(request) && tokenHash(said) === tokenHash(csrfTokenOf(id));
  }

  #listen(request: CalledRequest, response: ServerResponse): void {
    response.once(
      'close',
      this.watch(request, () => response.destroy()),
    );
  }

  /** Who was revoked, or has other roles, is cut off. */
  async #lookAgain(): Promise<void> {
    for (const [cut, request] of this.#listening) {
      const before = request.caller;
      const byToken = request.headers.authorization !== undefined;
      const now = byToken ? this.#ofToken(request) : await this.#ofSession(request);
      if (now === 'unknown') continue;
      if (now?.actor.id !== before?.actor.id || now?.roles.join() !== before?.roles.join()) cut();
    }
  }
}

/** What every request passes before anything else: who it is, whether there is room, its body. */
export function openDoor(app: INestApplication): void {
  const { admit, readBody } = app.get(ConsoleAdmission);
  app.use(app.get(Door).gate, admit, readBody);
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '';
}

function unknownNow(): RefusedError {
  return new RefusedError({ code: 'TRY_AGAIN', message: 'Who you are cannot be found out now.' });
}

function forbidden(message: string): RefusedError {
  return new RefusedError({ code: 'UNAUTHORIZED', message }, 403);
}
