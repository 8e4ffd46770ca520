import type { IncomingMessage, ServerResponse } from 'node:http';
import { LIMITS } from '#proto';
import type { ConsoleCaller } from '../callers/index.js';
import type { OpenAnswers } from './open-answers.js';
import { Places, type Crowded, type PlaceLimits } from './places.js';
import { RefusedError } from './refusal.js';
import { refuseUnread } from './send.js';

export type HttpMiddleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;
/** A request, who sends it, from the credential, and its body as bytes, when it was read. */
export type CalledRequest = IncomingMessage & { body?: unknown; caller?: ConsoleCaller };

const MIB = 1024 * 1024;
const TOO_MANY_REQUESTS = 429;
const NOBODY = '';
/** What is open for as long as its run goes on. */
const STREAM = /^\/v1\/runs\/[^/]+\/(?:events|output)\/?$/iu;

export interface AdmissionLimits {
  /** In work: from their head to the last byte of their answer. */
  readonly requests: PlaceLimits;
  readonly streams: PlaceLimits;
  /** Of bodies that are not whole yet. */
  readonly bodyBytes: PlaceLimits;
  /** Of answers and streams that their readers have not taken, in all. */
  readonly waitingBytesMax: number;
  /** How long a reader may take for an answer that is whole. */
  readonly answerMsMax: number;
}

export const ADMISSION_LIMITS: AdmissionLimits = {
  requests: { eachMax: 32, allMax: 256 },
  streams: { eachMax: 64, allMax: 256 },
  bodyBytes: { eachMax: 2 * MIB, allMax: 8 * MIB },
  waitingBytesMax: 16 * MIB,
  answerMsMax: 30_000,
};

const WHAT = {
  requests: 'requests are in work',
  streams: 'streams are open',
  bodyBytes: 'bytes of bodies are on their way',
} as const;

/** Who was let in gets a place, or hears when to come back: what one caller leaves half done never takes the console from the others. */
export class ConsoleAdmission {
  readonly #answers: OpenAnswers;
  readonly #answerMsMax: number;
  readonly #places: Readonly<Record<keyof typeof WHAT, Places>>;

  constructor(answers: OpenAnswers, limits: AdmissionLimits = ADMISSION_LIMITS) {
    this.#answers = answers;
    this.#answerMsMax = limits.answerMsMax;
    this.#places = {
      requests: new Places(limits.requests),
      streams: new Places(limits.streams),
      bodyBytes: new Places(limits.bodyBytes),
    };
  }

  /** Holds a place until the answer is over, or the connection. */
  readonly admit: HttpMiddleware = (request: CalledRequest, response, next) => {
    const caller = request.caller?.actor.id ?? NOBODY;
    const [path = ''] = (request.url ?? '').split('?', 1);
    const kind = request.method === 'GET' && STREAM.test(path) ? 'streams' : 'requests';
    const crowded = this.#places[kind].take(caller);
    if (crowded !== undefined) return refuseUnread(response, full(kind, crowded));
    this.#answers.add(response);
    let late: NodeJS.Timeout | undefined;
    response.once('prefinish', () => {
      this.#answers.bound();
      if (!response.destroyed) late = setTimeout(() => response.destroy(), this.#answerMsMax).unref();
    });
    response.once('close', () => {
      clearTimeout(late);
      this.#answers.delete(response);
      this.#places[kind].giveBack(caller);
    });
    next();
  };

  /** Reads the body up to the limit of a request, before anybody else does. */
  readonly readBody: HttpMiddleware = (request: CalledRequest, response, next) => {
    const caller = request.caller?.actor.id ?? NOBODY;
    const chunks: Buffer[] = [];
    let bytes = 0;
    const giveBack = () => {
      this.#places.bodyBytes.giveBack(caller, bytes);
      bytes = 0;
    };
    const refuse = (error: RefusedError) => {
      request.removeAllListeners('data').removeAllListeners('end').pause();
      chunks.length = 0;
      refuseUnread(response, error);
    };
    if (Number(request.headers['content-length'] ?? 0) > LIMITS.requestBytesMax) return refuse(tooLarge());
    request.on('data', (chunk: Buffer) => {
      if (bytes + chunk.length > LIMITS.requestBytesMax) return refuse(tooLarge());
      const crowded = this.#places.bodyBytes.take(caller, chunk.length);
      if (crowded !== undefined) return refuse(full('bodyBytes', crowded));
      bytes += chunk.length;
      chunks.push(chunk);
    });
    request.once('error', () => undefined); // the client is gone; there is nobody to answer
    request.once('end', () => {
      request.body = Buffer.concat(chunks);
      giveBack();
      next();
    });
    response.once('close', giveBack);
  };
}

function tooLarge(): RefusedError {
  return new RefusedError({
    code: 'TOO_LARGE',
    message: `The body is larger than ${LIMITS.requestBytesMax} bytes.`,
  });
}

function full(kind: keyof typeof WHAT, crowded: Crowded): RefusedError {
  const isCaller = crowded === 'caller';
  const message = `Too many ${isCaller ? 'of your ' : ''}${WHAT[kind]}: try again after the seconds of Retry-After.`;
  return new RefusedError({ code: 'TRY_AGAIN', message }, isCaller ? TOO_MANY_REQUESTS : undefined);
}
