import { setTimeout as sleepFor } from 'node:timers/promises';
import type { OpenAI } from 'openai';
import { BREAKER, CircuitBreaker, type BreakerOptions, type Shown } from './circuit.js';
import {
  EMBEDDED_CHARS_MAX,
  EMBEDDED_TEXTS_MAX,
  wrongNumberOfTexts,
  type Embedded,
  type Embedder,
  type EmbeddingRequest,
  type NotEmbedded,
  costOf,
  type PriceTable,
  countTokens,
} from '../models/index.js';
import { connectOpenAi } from './client.adapter.js';
import { readEmbeddings } from './embedding.js';
import { faultOf, type Fault } from './fault.js';
import { LONGEST_TIMER_MS, RequestGuard } from './request-guard.js';
import { isIllness, slept, waitBefore, type Sleep } from './retry.js';
import { Scrubber } from './scrubber.js';
import type { EmbeddingSettings } from '../settings/index.js';

export interface OpenAiEmbedderOptions {
  readonly settings: EmbeddingSettings;
  readonly prices: PriceTable;
  /** What is taken out of everything that is sent or said. */
  readonly keys: readonly string[];
  readonly breaker?: BreakerOptions;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** From 0 to 1. */
  readonly random?: () => number;
  /** Waits; ends early, in whatever way, when the signal is aborted. */
  readonly sleep?: Sleep;
  readonly fetch?: typeof globalThis.fetch;
}

const TRIES_MAX = 3;
const MESSAGE_CHARS_MAX = 1_000;

/** Asks an endpoint that speaks OpenAI's embeddings. */
export class OpenAiEmbedder implements Embedder {
  readonly similarityMin: number;
  readonly #options: OpenAiEmbedderOptions;
  readonly #now: () => number;
  readonly #sleep: Sleep;
  readonly #scrubber: Scrubber;
  readonly #circuit: CircuitBreaker;
  #client: Promise<OpenAI> | undefined;

  constructor(options: OpenAiEmbedderOptions) {
    this.#options = options;
    this.similarityMin = options.settings.similarityMin;
    this.#now = options.now ?? Date.now;
    this.#sleep = options.sleep ?? ((ms, signal) => sleepFor(ms, undefined, { signal }));
    this.#scrubber = new Scrubber(options.keys);
    this.#circuit = new CircuitBreaker(options.breaker ?? BREAKER, this.#now);
  }

  async embed({ texts, signal, deadlineMs }: EmbeddingRequest): Promise<Embedded | NotEmbedded> {
    if (texts.length === 0 || texts.length > EMBEDDED_TEXTS_MAX) return failed(wrongNumberOfTexts);
    const input = texts.map((text) => this.#scrubber.scrub(text).slice(0, EMBEDDED_CHARS_MAX).toWellFormed());
    const endsAtMs = this.#now() + deadlineMs;
    for (let made = 1; ; made++) {
      const leftMs = endsAtMs - this.#now();
      if (signal.aborted) return failed({ code: 'ABORTED', message: 'nobody wants the vectors any more' });
      if (leftMs <= 0) return failed({ code: 'TIMEOUT', message: 'no time was left to ask' });
      const tried = await this.#circuit.run(() => this.#once(input, signal, { leftMs, isFirst: made === 1 }));
      if (tried === 'open') return failed(LEFT_ALONE);
      if (tried.fault === null) return tried.made;
      const waitMs = waitBefore(tried.fault, { made, max: TRIES_MAX }, (this.#options.random ?? Math.random)());
      if (waitMs === null || waitMs >= endsAtMs - this.#now()) return failed(tried.fault);
      await slept(this.#sleep, waitMs, signal);
    }
  }

  async #once(
    input: readonly string[],
    outer: AbortSignal,
    { leftMs, isFirst }: { readonly leftMs: number; readonly isFirst: boolean },
  ): Promise<Tried> {
    const { timeoutMs, dimensions } = this.#options.settings;
    const guard = new RequestGuard(outer, Math.min(timeoutMs, leftMs));
    const progress = { began: false };
    try {
      const read = readEmbeddings(await this.#reply(input, guard, progress), { texts: input.length, dimensions });
      if ('problem' in read) return unhealthy({ code: 'BAD_RESPONSE', message: read.problem });
      return { made: this.#made(input, read), fault: null, shows: 'health' };
    } catch (error) {
      const scrub = (text: string): string => this.#scrubber.scrub(text);
      const fault = guard.fault() ?? faultOf(error, { began: progress.began, nowMs: this.#now(), scrub });
      if (fault.code === 'ABORTED') return { fault, shows: 'nothing' };
      // A later try may have got less time than it needs; the first one has all the time of the caller.
      if (fault.code === 'TIMEOUT' && !isFirst && leftMs < timeoutMs) return { fault, shows: 'nothing' };
      return isIllness(fault.code) ? unhealthy(fault) : { fault, shows: 'health' };
    } finally {
      guard.release();
    }
  }

  async #reply(input: readonly string[], guard: RequestGuard, progress: { began: boolean }): Promise<unknown> {
    const { settings, fetch = (...asked) => globalThis.fetch(...asked) } = this.#options;
    const { model, dimensions } = settings;
    const client = await (this.#client ??= connectOpenAi(settings, fetch));
    const body = { model, input: [...input], ...(dimensions !== null && { dimensions }) };
    const asked = client.embeddings.create(
      // The library would ask for base64 otherwise, which not every endpoint speaks.
      { ...body, encoding_format: 'float' },
      { signal: guard.signal, timeout: LONGEST_TIMER_MS },
    );
    const response = await asked.asResponse();
    progress.began = true;
    return JSON.parse(await response.text());
  }

  #made(
    input: readonly string[],
    { vectors, tokens: counted }: { vectors: readonly Float32Array[]; tokens: number | null },
  ): Embedded {
    const { settings, prices } = this.#options;
    const model = `${settings.model}/${vectors[0]?.length ?? 0}`;
    const tokens = counted ?? input.reduce((sum, text) => sum + countTokens(text), 0);
    const costUsd = costOf({ prompt: tokens, completion: 0 }, settings.model, prices);
    return { kind: 'embedded', embeddings: vectors.map((vector) => ({ model, vector })), model, tokens, costUsd };
  }
}

type Tried = Shown & ({ readonly made: Embedded; readonly fault: null } | { readonly fault: Fault });

const LEFT_ALONE: Fault = {
  code: 'CIRCUIT_OPEN',
  message: 'the endpoint failed too often lately; it was not asked',
};

const unhealthy = (fault: Fault): Tried => ({ fault, shows: 'illness' });

function failed({ code, message }: Fault): NotEmbedded {
  return { kind: 'failed', code, message: message.slice(0, MESSAGE_CHARS_MAX) };
}
