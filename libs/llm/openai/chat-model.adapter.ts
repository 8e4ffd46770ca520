import { setTimeout as sleepFor } from 'node:timers/promises';
import {
  type ChatModel,
  type ModelAnswer,
  type ModelErrorCode,
  type ModelRequest,
  costOf,
  promptHash,
  countPromptTokens,
  countTokens,
} from '../models/index.js';
import { BREAKER, type BreakerOptions } from './circuit.js';
import { OpenAiEndpoint, type Try } from './endpoint.adapter.js';
import { parametersOf } from './request.js';
import { isWorthBackup, slept, waitBefore } from './retry.js';
import { Scrubber } from './scrubber.js';
import { keysOf, type ModelEndpoint, type ModelSettings, type ModelSettingsBook } from '../settings/index.js';

export interface OpenAiChatModelOptions {
  readonly settings: ModelSettingsBook;
  readonly breaker?: BreakerOptions;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** From 0 to 1. */
  readonly random?: () => number;
  /** Waits; ends early, in whatever way, when the signal is aborted. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
  readonly fetch?: typeof globalThis.fetch;
}

/** How often one question waits for an endpoint to be tried again. */
const CIRCUIT_WAITS_MAX = 3;
/** More parts of a request than can be left out. */
const LESSONS_MAX = 8;
const MESSAGE_CHARS_MAX = 1_000;

/** Asks endpoints that speak OpenAI's chat completions: the main one of the agent's settings, then its backup. */
export class OpenAiChatModel implements ChatModel {
  readonly #settings: ModelSettingsBook;
  readonly #breaker: BreakerOptions;
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #sleep: (ms: number, signal: AbortSignal) => Promise<unknown>;
  readonly #fetch: typeof globalThis.fetch;
  readonly #scrubber: Scrubber;
  readonly #endpoints = new Map<string, OpenAiEndpoint>();

  constructor(options: OpenAiChatModelOptions) {
    this.#settings = options.settings;
    this.#breaker = options.breaker ?? BREAKER;
    this.#now = options.now ?? Date.now;
    this.#random = options.random ?? Math.random;
    this.#sleep = options.sleep ?? ((ms, signal) => sleepFor(ms, undefined, { signal }));
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
    this.#scrubber = new Scrubber(keysOf(options.settings));
  }

  async ask(request: ModelRequest): Promise<ModelAnswer[]> {
    const asking = new Asking(request, this.#settings, this.#now);
    const listened = { ...request, onText: (text: string) => asking.tell(text) };
    for (let waits = 0; ; waits++) {
      for (const target of asking.targets) {
        const code = await this.#askEndpoint(listened, target, asking);
        if (code === null || !isWorthBackup(code)) return asking.finish();
      }
      const askedAny = asking.answers.length > 0;
      if (askedAny || waits === CIRCUIT_WAITS_MAX || !(await this.#rest(request, asking))) return asking.finish();
    }
  }

  /** Every circuit is open: waits until one may be tried again. False when there is no time for that. */
  async #rest({ signal }: ModelRequest, asking: Asking): Promise<boolean> {
    const ms = Math.round(this.#breaker.openMs * (1 + this.#random() / 4));
    return asking.leftMs() > ms && (await slept(this.#sleep, ms, signal));
  }

  /** Asks one endpoint until it answers or no try is left; null when it answered, else what was wrong at last. */
  async #askEndpoint(request: ModelRequest, target: Target, asking: Asking): Promise<ModelErrorCode | null> {
    const endpoint = this.#endpointOf(target.endpoint);
    const { settings } = asking;
    const manner = { ...settings, model: target.endpoint.model, supportsSchema: target.endpoint.supportsSchema };
    let lessons = 0;
    for (let made = 1; ;) {
      if (request.signal.aborted) return asking.note('ABORTED', 'nobody wants the reply any more', target);
      const leftMs = asking.leftMs();
      if (leftMs <= 0) return asking.note('TIMEOUT', 'no time was left to ask', target);
      asking.tell('');
      const tried = await endpoint.once(request, manner, { timeoutMs: settings.timeoutMs, leftMs });
      if (tried === 'open')
        return asking.note('CIRCUIT_OPEN', 'the endpoint failed too often lately; it was not asked', target);
      asking.record(tried, target);
      const { fault } = tried;
      if (fault === null) return null;
      if (tried.learnt && lessons++ < LESSONS_MAX) continue;
      const waitMs = waitBefore(fault, { made, max: settings.retries + 1 }, this.#random());
      if (waitMs === null || waitMs >= asking.leftMs()) return fault.code;
      made++;
      await slept(this.#sleep, waitMs, request.signal);
    }
  }

  #endpointOf(endpoint: ModelEndpoint): OpenAiEndpoint {
    const id = JSON.stringify([endpoint.baseUrl, endpoint.key?.reveal() ?? null]);
    let known = this.#endpoints.get(id);
    if (known === undefined) {
      const options = { breaker: this.#breaker, scrubber: this.#scrubber, now: this.#now, fetch: this.#fetch };
      known = new OpenAiEndpoint(endpoint, options);
      this.#endpoints.set(id, known);
    }
    return known;
  }
}

interface Target {
  readonly role: 'main' | 'backup';
  readonly endpoint: ModelEndpoint;
}

/** One question: whom it may be put to, how much time is left, and what came of it so far. */
class Asking {
  readonly settings: ModelSettings;
  readonly targets: readonly Target[];
  readonly answers: ModelAnswer[] = [];
  readonly #request: ModelRequest;
  readonly #book: ModelSettingsBook;
  readonly #now: () => number;
  readonly #endsAtMs: number;
  readonly #promptHash: string;
  #notAsked: ModelAnswer | undefined;
  #told = '';

  constructor(request: ModelRequest, book: ModelSettingsBook, now: () => number) {
    this.#request = request;
    this.#book = book;
    this.#now = now;
    this.#endsAtMs = now() + request.deadlineMs;
    this.#promptHash = promptHash(request.messages);
    this.settings = book.of(request.agent);
    const { backup } = this.settings;
    const main = { role: 'main', endpoint: this.settings } as const;
    this.targets = backup === null ? [main] : [main, { role: 'backup', endpoint: backup }];
  }

  leftMs(): number {
    return this.#endsAtMs - this.#now();
  }

  /** The empty text only when there is something to take back. A listener must not be able to break what it listens to. */
  tell(text: string): void {
    if (text === this.#told || this.#request.signal.aborted) return;
    this.#told = text;
    try {
      this.#request.onText?.(text);
    } catch {
      // His mistake, and his to notice.
    }
  }

  record({ reply, fault, usage, began, sent, startedAtMs }: Try, { role, endpoint }: Target): void {
    const { model } = endpoint;
    const { temperature, maxTokens } = this.settings;
    const tokens = usage ?? (began ? this.#counted(reply) : { prompt: 0, completion: 0 });
    this.answers.push({
      model,
      endpoint: role,
      promptHash: this.#promptHash,
      parameters: { ...parametersOf({ model, temperature, maxTokens }, sent), url: endpoint.baseUrl },
      reply,
      error: fault === null ? null : { code: fault.code, message: fault.message.slice(0, MESSAGE_CHARS_MAX) },
      tokens,
      costUsd: costOf(tokens, model, this.#book.prices),
      startedAt: new Date(startedAtMs).toISOString(),
      durationMs: Math.max(0, this.#now() - startedAtMs),
    });
  }

  /** Says why an endpoint was not asked. It counts when nothing else does, or when it is the caller's will. */
  note(code: ModelErrorCode, message: string, { role, endpoint }: Target): ModelErrorCode {
    const { model } = endpoint;
    const none = { prompt: 0, completion: 0 };
    const startedAt = new Date(this.#now()).toISOString();
    const answer = { model, endpoint: role, promptHash: this.#promptHash, parameters: {}, reply: null, tokens: none };
    this.#notAsked = {
      ...answer,
      error: { code, message },
      costUsd: costOf(none, model, {}),
      startedAt,
      durationMs: 0,
    };
    return code;
  }

  finish(): ModelAnswer[] {
    const note = this.#notAsked;
    const counts =
      this.answers.length === 0 || (note?.error?.code === 'ABORTED' && this.answers.at(-1)?.error !== null);
    return note !== undefined && counts ? [...this.answers, note] : this.answers;
  }

  #counted(reply: string | null): { prompt: number; completion: number } {
    return { prompt: countPromptTokens(this.#request.messages), completion: countTokens(reply ?? '') };
  }
}
