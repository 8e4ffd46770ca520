import type { ServerResponse } from 'node:http';
import { Controller, Get, Inject, Post, Req, Res } from '@nestjs/common';
import type { Logger } from 'pino';
import { decodeLoginCode, loginCodeId, verifyLoginCode } from '#libs/keys';
import { CLOCK, LOGGER, type Clock } from '#libs/platform';
import { LIMITS, type Login, type Sha256 } from '#proto';
import { AccessDesk, peerOf } from '../access/index.js';
import { csrfTokenOf, Logins, sessionName, Sessions, type ConsoleCaller } from '../callers/index.js';
import {
  cookieName,
  cookieOf,
  Door,
  Needs,
  RefusedError,
  setCookie,
  type CalledRequest,
  type CookieSpec,
} from '../http/index.js';
import { attemptOf, newAttemptSecret } from './login-attempt.js';
import type { OidcProvider } from './oidc.client.js';
import {
  CODE_PAGE_POLICY,
  codePage,
  loggedOutPage,
  loginPage,
  PAGE_POLICY,
  sessionPage,
  strangerPage,
} from './pages.js';

/** What lets the provider be left out: an installation may have none. */
export class Providers {
  readonly provider: OidcProvider | undefined;

  constructor(provider: OidcProvider | undefined) {
    this.provider = provider;
  }
}

const TOKEN_CHARS_MAX = 512;
const NO_CODE = 'This code lets nobody in.';
const ANOTHER_CODE = 'Make another one: orrery console';
const FOREIGN_PAGE = 'This was asked by a page that is not of this console. Open the page here and try again.';

/** The pages on which people log in and out. */
@Controller()
export class LoginController {
  readonly #door: Door;
  readonly #logins: Logins;
  readonly #sessions: Sessions;
  readonly #provider: OidcProvider | undefined;
  readonly #desk: AccessDesk;
  readonly #clock: Clock;
  readonly #logger: Logger;

  constructor(
    @Inject(Door) door: Door,
    @Inject(Logins) logins: Logins,
    @Inject(Sessions) sessions: Sessions,
    @Inject(Providers) { provider }: Providers,
    @Inject(AccessDesk) desk: AccessDesk,
    @Inject(CLOCK) clock: Clock,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.#door = door;
    this.#logins = logins;
    this.#sessions = sessions;
    this.#provider = provider;
    this.#desk = desk;
    this.#clock = clock;
    this.#logger = logger;
  }

  @Get('login')
  @Needs('anybody')
  show(@Req() request: CalledRequest, @Res() response: ServerResponse): void {
    const id = this.#door.sessionId(request);
    const { caller } = request;
    if (caller !== undefined && id !== undefined) sendPage(response, 200, sessionPage(caller, csrfTokenOf(id)));
    else this.#sendLogin(response, 200);
  }

  /** A token as the beginning of a session. */
  @Post('login')
  @Needs('anybody')
  async withToken(@Req() request: CalledRequest, @Res() response: ServerResponse): Promise<void> {
    if (!this.#door.isOurs(request)) return this.#sendLogin(response, 403, FOREIGN_PAGE);
    const token = fieldOf(request, 'token').slice(0, TOKEN_CHARS_MAX + 1);
    const found = this.#logins.ofToken(token);
    if (found === undefined) {
      this.#desk.refused(peerOf(request));
      return this.#sendLogin(response, 401, 'This token lets nobody in.');
    }
    await this.#begin(request, response, found);
  }

  /** The link of `orrery console`, whose code never comes here by itself. */
  @Get('login/code')
  @Needs('anybody')
  showCode(@Req() request: CalledRequest, @Res() response: ServerResponse): void {
    const caller = this.#door.sessionId(request) === undefined ? undefined : request.caller;
    sendPage(response, 200, codePage(caller), CODE_PAGE_POLICY);
  }

  /** A code as the beginning of a session, once. */
  @Post('login/code')
  @Needs('anybody')
  async withCode(@Req() request: CalledRequest, @Res() response: ServerResponse): Promise<void> {
    if (!this.#door.isOurs(request)) return this.#sendLogin(response, 403, FOREIGN_PAGE);
    const found = this.#ofCode(request);
    if (typeof found === 'string') {
      this.#desk.refused(peerOf(request));
      return this.#sendLogin(response, 401, `${found} ${ANOTHER_CODE}`);
    }
    let isFirst;
    try {
      isFirst = await this.#sessions.spend(found.codeId);
    } catch (err) {
      this.#logger.warn({ err }, 'it could not be stored that a code was used');
      return this.#sendLogin(response, 503, `Nobody can be logged in now. ${ANOTHER_CODE}`);
    }
    if (isFirst) return this.#begin(request, response, found.caller);
    this.#desk.refused(peerOf(request));
    this.#sendLogin(response, 401, `The code was used already. ${ANOTHER_CODE}`);
  }

  @Get('login/start')
  @Needs('anybody')
  async start(@Res() response: ServerResponse): Promise<void> {
    const secret = newAttemptSecret(this.#clock.now());
    const attempt = attemptOf(secret, this.#clock.now());
    if (this.#provider === undefined || attempt === undefined) {
      return this.#sendLogin(response, 404, 'This console has no identity provider.');
    }
    let url;
    try {
      url = await this.#provider.urlFor(attempt);
    } catch (err) {
      this.#logger.warn({ why: reasonOf(err) }, 'the identity provider cannot be reached');
      return this.#sendLogin(response, 503, `${this.#provider.name} cannot be reached now. Try again in a while.`);
    }
    response.setHeader('Set-Cookie', setCookie(this.#attemptCookie, secret));
    redirect(response, url.href);
  }

  /** The provider has sent the browser back. */
  @Get('login/callback')
  @Needs('anybody')
  async comeBack(@Req() request: CalledRequest, @Res() response: ServerResponse): Promise<void> {
    const cookie = this.#attemptCookie;
    const attempt = attemptOf(cookieOf(request.headers.cookie, cookie.name), this.#clock.now());
    response.setHeader('Set-Cookie', setCookie({ ...cookie, maxAge: 0 }, ''));
    if (this.#provider === undefined || attempt === undefined) {
      return this.#sendLogin(response, 400, 'This login was not begun in this browser, or too long ago.');
    }
    let login: Login;
    try {
      login = await this.#provider.loginOf((request.url ?? '').split('?')[1] ?? '', attempt);
    } catch (err) {
      this.#desk.refused(peerOf(request));
      this.#logger.warn({ why: reasonOf(err) }, 'a login at the identity provider was refused');
      return this.#sendLogin(response, 400, `The login at ${this.#provider.name} did not work. Try again.`);
    }
    const found = this.#logins.ofLogin(login);
    if (found === undefined) {
      this.#desk.refused(peerOf(request), login);
      return sendPage(response, 403, strangerPage(login.issuer, login.subject));
    }
    await this.#begin(request, response, found);
  }

  @Post('logout')
  @Needs('anybody')
  async leave(@Req() request: CalledRequest, @Res() response: ServerResponse): Promise<void> {
    const id = this.#door.sessionId(request);
    if (id !== undefined) {
      const isMeant = this.#door.isOurs(request) && fieldOf(request, 'csrf') === csrfTokenOf(id);
      if (!isMeant) return this.#sendLogin(response, 403, FOREIGN_PAGE);
      await this.#sessions.close(id);
      await this.#leaves(request);
    }
    response.setHeader('Set-Cookie', setCookie({ ...this.#door.cookie, maxAge: 0 }, ''));
    sendPage(response, 200, loggedOutPage());
  }

  /** Who has signed the code that was sent; a sentence when it lets nobody in. */
  #ofCode(
    request: CalledRequest,
  ): { readonly caller: Omit<ConsoleCaller, 'session'>; readonly codeId: Sha256 } | string {
    const code = decodeLoginCode(fieldOf(request, 'code'));
    if (code === undefined) return NO_CODE;
    const verified = verifyLoginCode(code, { hosts: [this.#door.hostOf(request)], now: this.#clock.now() });
    if (!verified.ok) return verified.reason;
    const caller = this.#logins.ofKey(verified.key);
    return caller === undefined ? NO_CODE : { caller, codeId: loginCodeId(code) };
  }

  /** A session is over whether that can be recorded or not. */
  async #leaves(request: CalledRequest): Promise<void> {
    if (request.caller === undefined) return;
    await this.#desk.session('LOGGED_OUT', request.caller, peerOf(request)).catch((err: unknown) => {
      this.#logger.warn({ err }, 'a logout could not be recorded');
    });
  }

  /** Always with a new id, and the one before is over: nobody can have prepared it (session fixation). */
  async #begin(request: CalledRequest, response: ServerResponse, found: Omit<ConsoleCaller, 'session'>): Promise<void> {
    const before = this.#door.sessionId(request);
    if (before !== undefined) await this.#sessions.close(before);
    const id = await this.#sessions.open(found.actor.id, found);
    try {
      await this.#desk.session('LOGGED_IN', { ...found, session: sessionName(id) }, peerOf(request));
    } catch (error) {
      await this.#sessions.close(id);
      if (!(error instanceof RefusedError)) throw error;
      return this.#sendLogin(response, 503, error.message);
    }
    const cookies = [response.getHeader('Set-Cookie') ?? [], setCookie(this.#door.cookie, id)].flat().map(String);
    response.setHeader('Set-Cookie', cookies);
    redirect(response, '/');
  }

  get #attemptCookie(): CookieSpec {
    const { secure } = this.#door.cookie;
    return { name: cookieName('orrery-login', secure), secure, maxAge: LIMITS.loginMs / 1_000 };
  }

  #sendLogin(response: ServerResponse, status: number, problem?: string): void {
    sendPage(response, status, loginPage({ provider: this.#provider?.name, problem }));
  }
}

function sendPage(response: ServerResponse, status: number, html: string, policy = PAGE_POLICY): void {
  response.writeHead(status, { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': policy });
  response.end(html);
}

function redirect(response: ServerResponse, url: string): void {
  response.writeHead(303, { Location: url }).end();
}

/** A field of a form; empty when it is not there. */
function fieldOf({ body }: CalledRequest, name: string): string {
  return new URLSearchParams(body instanceof Uint8Array ? Buffer.from(body).toString('utf8') : '').get(name) ?? '';
}

/** In a few words: what an error carries along may hold what a provider said about somebody. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error ? `${error.message} (${String(error.code)})` : error.message;
}
