import type { IncomingMessage, ServerResponse } from 'node:http';
import { LIMITS } from '#proto';
import { judge, type GateRules } from './gate.js';
import { RefusedError } from './refusal.js';

export type HttpMiddleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;
/** A request whose body was read, as bytes. */
export type BodyRequest = IncomingMessage & { body?: unknown };

const RETRY_AFTER_S = 1;

/** Nothing here is a page: nothing may be loaded, framed, sniffed, stored or referred to. */
const HEADERS = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
} as const;

/** The first thing that sees a request; what it refuses is not read any further. */
export function gate(rules: GateRules): HttpMiddleware {
  return (request, response, next) => {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const { host, origin, authorization } = request.headers;
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const verdict = judge({ path, host, origin, authorization }, rules);
    if (verdict.kind === 'enter') return next();
    if (verdict.status === 401) response.setHeader('WWW-Authenticate', 'Bearer realm="orrery"');
    const { status, message } = verdict;
    // Whatever body follows is not worth reading.
    response.setHeader('Connection', 'close');
    sendRefusal(response, new RefusedError({ code: 'UNAUTHORIZED', message }, status));
  };
}

/** Reads the body up to the limit of a request, before the framework's own parsers, which then find nothing left to do. */
export const readBody: HttpMiddleware = (request: BodyRequest, response, next) => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const tooLarge = () => {
    request.removeAllListeners('data').removeAllListeners('end').pause();
    response.setHeader('Connection', 'close');
    const message = `The body is larger than ${LIMITS.requestBytesMax} bytes.`;
    sendRefusal(response, new RefusedError({ code: 'TOO_LARGE', message }));
  };
  if (Number(request.headers['content-length'] ?? 0) > LIMITS.requestBytesMax) return tooLarge();
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > LIMITS.requestBytesMax) return tooLarge();
    chunks.push(chunk);
  });
  request.once('error', () => undefined); // the client is gone; there is nobody to answer
  request.once('end', () => {
    request.body = Buffer.concat(chunks);
    next();
  });
};

export function sendRefusal(response: ServerResponse, { status, refusal }: RefusedError): void {
  response.statusCode = status;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  if (refusal.code === 'TRY_AGAIN') response.setHeader('Retry-After', RETRY_AFTER_S);
  response.end(JSON.stringify({ error: refusal }));
}
