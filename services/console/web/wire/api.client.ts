import { Refusal, VerbAnswer, parseWith } from '#proto';
import { z } from 'zod';
import { apiClient } from '../api/index.js';
import { hearTime } from './clock.adapter.js';

/** The console refused, or could not be asked. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly refusal: Refusal | undefined;

  constructor(status: number, refusal: Refusal | undefined, message: string) {
    super(message);
    this.status = status;
    this.refusal = refusal;
  }
}

const Refused = z.object({ error: Refusal });
let csrf: string | undefined;

/** What a change has to show, of `/v1/me`. */
export function showWithChanges(token: string | undefined): void {
  csrf = token;
}

/** Asks for JSON. Who is not logged in is sent to where he can. Throws ApiError. */
export async function getJson(path: string, signal?: AbortSignal): Promise<unknown> {
  return (await ask(path, { signal: signal ?? null })).json();
}

export async function getText(path: string, signal?: AbortSignal): Promise<string> {
  return (await ask(path, { signal: signal ?? null })).text();
}

/** A line may be as long as it likes. */
const FIRST_CHARS_MAX = 256 * 1_024;

/** The beginning of a text. */
export interface FirstLines {
  readonly lines: readonly string[];
  /** It goes on behind them. */
  readonly isMore: boolean;
}

/** Reads a text up to so many lines, and lets the rest of it be. Throws ApiError. */
export async function getLines(path: string, max: number, signal: AbortSignal): Promise<FirstLines> {
  const { body } = await ask(path, { signal });
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { done, value = '' } = (await reader?.read()) ?? { done: true };
    text += value;
    const lines = text.split('\n');
    if (lines.length > max + 1 || text.length > FIRST_CHARS_MAX) {
      await reader?.cancel();
      return { lines: text.slice(0, FIRST_CHARS_MAX).split('\n', max), isMore: true };
    }
    if (done) return { lines: lines.filter((line) => line !== ''), isMore: false };
  }
}

/** The console's own interface, each operation with the types of its description. Throws ApiError. */
export const askApi = apiClient(async (method, address, { body, key = newKey() }) =>
  method === 'GET' ? getJson(address) : changed(method, address, { body, key }),
);

/** Says something; `key` is its id, so that sending it again does nothing twice. Throws ApiError. */
export async function postJson(path: string, body: object | undefined, key: string): Promise<unknown> {
  return changed('POST', path, { body, key });
}

async function changed(method: string, path: string, { body, key }: { body?: unknown; key: string }): Promise<unknown> {
  const headers = {
    'Idempotency-Key': key,
    ...(csrf === undefined ? {} : { 'X-Orrery-CSRF': csrf }),
    ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
  };
  const said = body === undefined ? {} : { body: JSON.stringify(body) };
  return (await ask(path, { method, headers, ...said })).json();
}

/** The id of one intent. */
export function newKey(): string {
  return crypto.randomUUID();
}

async function ask(path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { credentials: 'same-origin', ...init });
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause;
    throw new ApiError(0, undefined, 'The console cannot be reached.');
  }
  hearTime(response.headers.get('date'));
  if (response.ok) return response;
  if (response.status === 401) goToLogin();
  const parsed = parseWith(Refused, await response.json().catch(() => null));
  const refusal = parsed.ok ? parsed.value.error : undefined;
  throw new ApiError(response.status, refusal, refusal?.message ?? `The console answered ${response.status}.`);
}

/** Where this page was is kept, to come back to it. */
export function goToLogin(): void {
  location.assign('/login');
}

/** What came of a verb. Throws ApiError. */
export async function sayVerb(path: string, body: object | undefined, key: string): Promise<VerbAnswer> {
  return VerbAnswer.parse(await postJson(path, body, key));
}
