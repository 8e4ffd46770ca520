import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { QueryRefusedError } from '#libs/messaging';
import type { Clock } from '#libs/platform';
import type { RefusalCode } from '#proto';
import { AddressRates } from './address-rates.js';
import type { GatewayMetrics } from '../connection/index.js';
import {
  IDENTITY_BODY_BYTES_MAX,
  readIdentityBody,
  readRoute,
  identityStatusOf,
  type IdentityRequest,
  type IdentityRoute,
} from './identity-request.js';
import type { Issued, RegistryPort } from './registry.client.js';

export interface IdentityHttpOptions {
  readonly registry: Pick<RegistryPort, 'join' | 'renew'>;
  readonly origins: readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Pick<GatewayMetrics, 'identityAnswered'>;
}

/** Each costs the registry a signature and a fact: many devices behind one address get theirs, a script that guesses does not. */
const RATES = {
  perAddress: { perSecond: 10, burst: 60 },
  inTotal: { perSecond: 200, burst: 400 },
  addressesMax: 10_000,
};

interface Answer {
  readonly status: number;
  readonly body: Issued | { readonly error: { readonly code: RefusalCode; readonly message: string } };
  readonly headers?: Readonly<Record<string, string>>;
}

/** How a device gets its first credential and the next one: one JSON request, one answer, and the connection ends. */
export class IdentityHttp {
  readonly #options: IdentityHttpOptions;
  readonly #rates: AddressRates;

  constructor(options: IdentityHttpOptions) {
    this.#options = options;
    this.#rates = new AddressRates(RATES, options.clock.now());
  }

  /** False: the request is about something else. */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    const route = readRoute(request, this.#options.origins);
    if (route === undefined) return false;
    void this.#serve(route, request, response);
    return true;
  }

  async #serve(route: IdentityRoute, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { logger, metrics } = this.#options;
    const { remoteAddress = '' } = request.socket;
    const { status, body, headers } = await this.#answer(route, request, remoteAddress);
    metrics.identityAnswered(route.kind, status);
    if ('error' in body) {
      // Anybody may ask: who asks too often does not fill the log as well.
      const level = status === 429 || status === 405 ? 'debug' : 'info';
      logger[level]({ kind: route.kind, status, code: body.error.code, remoteAddress }, 'no credential given');
    } else {
      logger.info({ kind: route.kind, deviceId: body.deviceId, expiresAt: body.expiresAt }, 'credential given');
    }
    const text = JSON.stringify(body);
    const length = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) };
    response.writeHead(status, { ...length, 'Cache-Control': 'no-store', Connection: 'close', ...headers }).end(text);
  }

  async #answer(route: IdentityRoute, request: IncomingMessage, remoteAddress: string): Promise<Answer> {
    if (route.kind === 'refused') {
      const code = route.status === 403 ? 'UNAUTHORIZED' : 'INVALID_REQUEST';
      return refused(route.status, code, route.message, route.status === 405 ? { Allow: 'POST' } : {});
    }
    const waitMs = this.#rates.take(remoteAddress, this.#options.clock.now());
    if (waitMs > 0) {
      return refused(429, 'TRY_AGAIN', 'Too many requests come from there.', retryAfter(waitMs));
    }
    const text = await bodyOf(request);
    if (text === undefined) {
      return refused(400, 'TOO_LARGE', `The body is more than ${IDENTITY_BODY_BYTES_MAX} bytes, or is cut off.`);
    }
    const read = readIdentityBody(route.kind, text);
    return read.ok ? this.#ask(read.request) : refused(400, 'INVALID_REQUEST', read.message);
  }

  async #ask(request: IdentityRequest): Promise<Answer> {
    const { registry, logger } = this.#options;
    try {
      const { assertion } = request;
      const body = await (request.kind === 'join'
        ? registry.join(request.token, assertion)
        : registry.renew(assertion));
      return { status: 200, body };
    } catch (error) {
      if (error instanceof QueryRefusedError) {
        const { code, message } = error.refusal;
        const status = identityStatusOf(code);
        return refused(status, code, message, status === 503 ? retryAfter(RETRY_MS) : {});
      }
      logger.warn({ err: error }, 'nobody gives credentials');
      return refused(503, 'TRY_AGAIN', 'Nobody can say now; ask again.', retryAfter(RETRY_MS));
    }
  }
}

const RETRY_MS = 1_000;

const retryAfter = (waitMs: number): Record<string, string> => ({ 'Retry-After': String(Math.ceil(waitMs / 1_000)) });

function refused(status: number, code: RefusalCode, message: string, headers: Record<string, string> = {}): Answer {
  return { status, body: { error: { code, message } }, headers };
}

/** Undefined when it is too long, or when the sender left in the middle. Its time is limited by who holds the socket. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > IDENTITY_BODY_BYTES_MAX) return undefined;
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks).toString('utf8');
}
