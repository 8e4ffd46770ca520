import type { ModelErrorCode } from '../models/index.js';

/** What became of one request that gave no whole reply. */
export interface Fault {
  readonly code: ModelErrorCode;
  readonly message: string;
  /** How long the endpoint wants to be left alone. */
  readonly retryAfterMs?: number;
  /** HTTP status, when there was an answer. */
  readonly status?: number;
  /** The whole text of a refusal, for finding out what was refused. */
  readonly refused?: string;
}

/** More than an endpoint may send; thrown into the reading of its body. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError';
}

const MESSAGE_CHARS_MAX = 500;
const CAUSES_MAX = 10;

export interface FaultCircumstances {
  /** The reply had begun. */
  readonly began: boolean;
  /** For a Retry-After that is a date. */
  readonly nowMs: number;
  /** Takes keys out of a text; done before it is cut, for half a key is not found. */
  readonly scrub: (text: string) => string;
}

/** Reads an error of the client library by its shape. */
export function faultOf(error: unknown, { began, nowMs, scrub }: FaultCircumstances): Fault {
  const cut = (text: string) => shortened(scrub(text));
  const shape = (typeof error === 'object' && error !== null ? error : {}) as ErrorShape;
  if (causes(error).some(({ name }) => name === BodyTooLargeError.name)) {
    return { code: 'REPLY_TOO_LARGE', message: 'the endpoint sent more than a reply may be' };
  }
  if (typeof shape.status === 'number') return httpFault(shape.status, shape, { nowMs, cut });
  if (shape.error !== undefined && shape.error !== null) {
    return { code: 'SERVER_ERROR', message: `the endpoint broke off with: ${cut(messageIn(shape))}` };
  }
  if (error instanceof SyntaxError || shape.name === 'SyntaxError') {
    return { code: 'BAD_RESPONSE', message: 'the endpoint sent something that is not an answer of a model' };
  }
  const reason = cut(deepest(error));
  if (began) return { code: 'STREAM_CUT', message: `the connection broke in the middle of the reply: ${reason}` };
  return { code: 'UNREACHABLE', message: `the endpoint cannot be reached: ${reason}` };
}

interface ErrorShape {
  readonly name?: unknown;
  readonly status?: unknown;
  readonly error?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly param?: unknown;
  readonly headers?: unknown;
}

function httpFault(
  status: number,
  shape: ErrorShape,
  { nowMs, cut }: { nowMs: number; cut: (text: string) => string },
): Fault {
  // What such an answer says may hold a part of the key that no scrubbing finds.
  if (status === 401 || status === 403) {
    return { code: 'UNAUTHORIZED', message: `the endpoint refused the key (HTTP ${status})`, status };
  }
  const message = `the endpoint answered HTTP ${status}: ${cut(messageIn(shape))}`;
  // A quota that is used up does not come back by waiting.
  if (status === 429 && shape.code === 'insufficient_quota') return { code: 'BAD_REQUEST', message, status };
  const retryAfterMs = retryAfter(shape.headers, nowMs);
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  if (status === 429) return { code: 'RATE_LIMITED', message, status, ...wait };
  if (status >= 500 || status === 408 || status === 409) return { code: 'SERVER_ERROR', message, status, ...wait };
  const refused = `${messageIn(shape)} ${typeof shape.param === 'string' ? shape.param : ''}`;
  return { code: 'BAD_REQUEST', message, status, refused };
}

function messageIn({ error, message }: ErrorShape): string {
  const inner = typeof error === 'object' && error !== null && 'message' in error ? error.message : undefined;
  if (typeof inner === 'string') return inner;
  return typeof error === 'string' ? error : typeof message === 'string' ? message : 'no reason given';
}

function retryAfter(headers: unknown, nowMs: number): number | undefined {
  const { get } = (headers ?? {}) as Partial<Headers>;
  if (typeof get !== 'function') return undefined;
  const inMs = Number(get.call(headers, 'retry-after-ms') ?? Number.NaN);
  if (Number.isFinite(inMs) && inMs >= 0) return inMs;
  const text = get.call(headers, 'retry-after');
  if (text === null || text.trim() === '') return undefined;
  const seconds = Number(text);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1_000);
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

interface ErrorLike {
  readonly name: string;
  readonly message: string;
  readonly cause?: unknown;
  readonly code?: unknown;
}

/** By shape: an error may come from another realm. */
function isErrorLike(error: unknown): error is ErrorLike {
  const { name, message } = (typeof error === 'object' && error !== null ? error : {}) as Partial<ErrorLike>;
  return typeof name === 'string' && typeof message === 'string';
}

function causes(error: unknown): ErrorLike[] {
  const chain: ErrorLike[] = [];
  for (let at = error; isErrorLike(at) && chain.length < CAUSES_MAX; at = at.cause) chain.push(at);
  return chain;
}

/** The library's own message says only that it failed; what lies beneath says why. */
function deepest(error: unknown): string {
  const last = causes(error).at(-1);
  if (last === undefined) return 'no reason given';
  const { code, message } = last;
  return typeof code === 'string' && !message.includes(code) ? `${message} (${code})` : message;
}

function shortened(text: string): string {
  return text.replace(/\s+/gu, ' ').trim().slice(0, MESSAGE_CHARS_MAX).toWellFormed();
}
