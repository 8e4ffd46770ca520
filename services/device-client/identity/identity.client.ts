import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { SecureContextOptions } from 'node:tls';
import { z } from 'zod';
import { DeviceId, Instant, parseJson } from '#proto';
import { errorCode } from '../faults/index.js';

/** What a device proves to a server of TLS, and whom it believes; read anew for every connection. */
export type ClientTls = Pick<SecureContextOptions, 'ca' | 'cert' | 'key'>;

export interface IdentityClientOptions {
  /** `ws(s)://.../ws`, in the order in which they are tried. */
  readonly urls: readonly string[];
  readonly tls: () => Promise<ClientTls>;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

export type IdentityAnswer =
  | {
      readonly kind: 'issued';
      readonly deviceId: DeviceId;
      readonly credential: string;
      /** From now. */
      readonly lifeMs: number;
      readonly url: string;
    }
  /** The system says no, and asking again does not help. */
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  /** Nobody answers, or nobody can say now. */
  | { readonly kind: 'away'; readonly reason: string; readonly waitMs: number }
  /** All servers answer, and none of them knows the question. */
  | { readonly kind: 'foreign'; readonly reason: string };

const ANSWER_MS = 10_000;
const ANSWER_BYTES_MAX = 64 * 1024;
const RETRY_AFTER_MS_MAX = 60_000;

const Issued = z.object({ deviceId: DeviceId, credential: z.string().min(1).max(4_096), expiresAt: Instant });
const Refused = z.object({ error: z.object({ code: z.string().max(64), message: z.string().max(4_000) }) });

interface Question {
  readonly path: 'join' | 'credential';
  /** Its body; `now`: by the clock of the server, as far as it is known. */
  readonly body: (now: number) => Promise<object>;
}

interface HttpAnswer {
  readonly status: number;
  readonly text: string;
  readonly date: string | undefined;
  readonly retryAfter: string | undefined;
}

/** Asks gateways for credentials, over the HTTP that stands beside their WebSockets. */
export class IdentityClient {
  readonly #options: IdentityClientOptions;
  /** What the clock of the device lacks to that of the server. */
  #offsetMs = 0;

  constructor(options: IdentityClientOptions) {
    this.#options = options;
  }

  /** Tries one server after the other until one of them decides. Never throws for what servers and networks do. */
  async ask(question: Question): Promise<IdentityAnswer> {
    let away: IdentityAnswer | undefined;
    let foreign: IdentityAnswer = { kind: 'foreign', reason: 'no server is known' };
    for (const url of this.#options.urls) {
      const answer = await this.#askOne(url, question);
      if (answer.kind === 'issued' || answer.kind === 'refused') return answer;
      if (answer.kind === 'away') away ??= answer;
      else foreign = answer;
    }
    return away ?? foreign;
  }

  async #askOne(url: string, question: Question): Promise<IdentityAnswer> {
    const answer = await this.#askOnce(url, question);
    // The answer has told the server's time: a device whose own clock is wrong can still say when it is.
    return answer.kind === 'refused' && answer.code === 'CLOCK_SKEW' ? this.#askOnce(url, question) : answer;
  }

  async #askOnce(url: string, { path, body }: Question): Promise<IdentityAnswer> {
    try {
      const text = JSON.stringify(await body(this.#options.now() + this.#offsetMs));
      const answer = await this.#post(httpUrl(url, path), text);
      this.#learnTime(answer);
      return this.#read(url, answer);
    } catch (error) {
      return { kind: 'away', reason: reasonOf(error), waitMs: 0 };
    }
  }

  #read(url: string, { status, text, retryAfter }: HttpAnswer): IdentityAnswer {
    const json = parseJson(text);
    const issued = status === 200 ? Issued.safeParse(json) : undefined;
    if (issued?.success === true) {
      const { deviceId, credential, expiresAt } = issued.data;
      const lifeMs = Date.parse(expiresAt) - this.#options.now() - this.#offsetMs;
      return { kind: 'issued', deviceId, credential, lifeMs, url };
    }
    const refused = Refused.safeParse(json);
    if (status === 429 || status >= 500) {
      const seconds = Number(retryAfter ?? 0);
      const waitMs = Number.isFinite(seconds) ? Math.min(Math.max(0, seconds * 1_000), RETRY_AFTER_MS_MAX) : 0;
      return { kind: 'away', reason: refused.data?.error.message ?? `it answers with HTTP ${status}`, waitMs };
    }
    if (!refused.success) return { kind: 'foreign', reason: `${url} answers with HTTP ${status}` };
    return { kind: 'refused', ...refused.data.error };
  }

  #learnTime({ date }: HttpAnswer): void {
    const serverMs = Date.parse(date ?? '');
    // Its precision is a second, and so is that of every assertion.
    if (!Number.isNaN(serverMs)) this.#offsetMs = serverMs - this.#options.now();
  }

  async #post(url: URL, body: string): Promise<HttpAnswer> {
    const { tls, signal } = this.#options;
    const limited = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
    const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
    const common = { method: 'POST', headers, signal: limited, agent: false };
    const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
    const request =
      url.protocol === 'https:' ? httpsRequest(url, { ...common, ...(await tls()) }) : httpRequest(url, common);
    request.once('error', reject);
    request.once('response', (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= ANSWER_BYTES_MAX) chunks.push(chunk);
        else request.destroy(new Error('its answer is too long'));
      });
      response.once('error', reject);
      response.once('end', () => {
        const { statusCode = 0, headers: answered } = response;
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({ status: statusCode, text, date: answered.date, retryAfter: answered['retry-after'] });
      });
    });
    request.end(body);
    return promise;
  }
}

/** `ws://host/prefix/ws` -> `http://host/prefix/v1/<path>`. */
export function httpUrl(url: string, path: string): URL {
  const found = new URL(`v1/${path}`, url.replace(/^ws/u, 'http'));
  found.search = '';
  return found;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `it does not answer in ${ANSWER_MS / 1_000} s`;
  // Both addresses of "localhost" refused: the aggregate itself says nothing.
  return error.message === '' ? (errorCode(error) ?? error.name) : error.message;
}
