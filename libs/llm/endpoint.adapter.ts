import {
  BrokenCircuitError,
  CircuitState,
  circuitBreaker,
  ConsecutiveBreaker,
  handleWhenResult,
  type CircuitBreakerPolicy,
} from 'cockatiel';
import type { OpenAI } from 'openai';
import { boundedFetch } from './bounded-fetch.js';
import type { ModelRequest } from './chat-model.js';
import { faultOf, type Fault } from './openai-fault.js';
import { ReplyBuilder, type Tally } from './openai-reply.js';
import { allAbilities, bodyOf, lesser, without, type Abilities, type Manner } from './openai-request.js';
import { isIllness } from './retry.js';
import type { Scrubber } from './scrubber.js';
import type { ModelEndpoint } from './settings.js';

export interface BreakerOptions {
  /** Failures in a row after which an endpoint is left alone. */
  readonly failures: number;
  /** For how long, in milliseconds; then one request may try. */
  readonly openMs: number;
}

export interface EndpointOptions {
  readonly breaker: BreakerOptions;
  readonly scrubber: Scrubber;
  readonly now: () => number;
  readonly fetch: typeof globalThis.fetch;
}

/** What came of one request. */
export interface Try {
  readonly reply: string | null;
  readonly fault: Fault | null;
  /** Null: the endpoint did not say. */
  readonly usage: Tally | null;
  /** The endpoint began to answer: the prompt was read, and may be charged. */
  readonly began: boolean;
  readonly sent: Abilities;
  /** The endpoint refused a part of the request that can be left out; from now on it is. */
  readonly learnt: boolean;
  readonly startedAtMs: number;
  /** What the request says about the endpoint. */
  readonly shows: 'health' | 'illness' | 'nothing';
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** One base URL with one key: its client, its circuit, and what is known of what it takes, by model. */
export class OpenAiEndpoint {
  readonly #endpoint: ModelEndpoint;
  readonly #options: EndpointOptions;
  readonly #breaker: CircuitBreakerPolicy;
  readonly #abilities = new Map<string, Abilities>();
  #client: Promise<OpenAI> | undefined;

  constructor(endpoint: ModelEndpoint, options: EndpointOptions) {
    this.#endpoint = endpoint;
    this.#options = options;
    const { failures, openMs } = options.breaker;
    this.#breaker = circuitBreaker(
      handleWhenResult((made) => this.#countsAsFailure(made as Try)),
      { halfOpenAfter: openMs, breaker: new ConsecutiveBreaker(failures) },
    );
  }

  /** Makes one request, or says that the circuit is open. */
  async once(
    request: ModelRequest,
    manner: Manner & { supportsSchema: boolean },
    limits: Limits,
  ): Promise<Try | 'open'> {
    // One request tries whether it works again; the others do not wait for it here.
    if (this.#breaker.state === CircuitState.HalfOpen) return 'open';
    try {
      return await this.#breaker.execute(() => this.#make(request, manner, limits));
    } catch (error) {
      if (error instanceof BrokenCircuitError) return 'open';
      throw error;
    }
  }

  /** A trial after a pause that was broken off has shown nothing, and must not count as a recovery. */
  #countsAsFailure({ shows }: Try): boolean {
    return shows === 'illness' || (shows === 'nothing' && this.#breaker.state === CircuitState.HalfOpen);
  }

  async #make(request: ModelRequest, manner: Manner & { supportsSchema: boolean }, limits: Limits): Promise<Try> {
    const { now, scrubber } = this.#options;
    const startedAtMs = now();
    const sent = this.#abilitiesOf(manner);
    const guard = new Guard(request.signal, Math.min(limits.timeoutMs, limits.leftMs));
    const builder = new ReplyBuilder();
    const progress = { began: false };
    let fault: Fault | null;
    try {
      await this.#read({ request, body: bodyOf(request, manner, sent), guard, builder, progress });
      fault = guard.fault() ?? builder.fault();
    } catch (error) {
      fault =
        guard.fault() ??
        (builder.isTooLarge
          ? builder.fault()
          : faultOf(error, { began: progress.began, nowMs: now(), scrub: (text) => scrubber.scrub(text) }));
    } finally {
      guard.release();
    }
    const next = fault?.refused === undefined ? null : without(fault.refused, sent, manner);
    if (next !== null) this.#abilities.set(manner.model, lesser(next, this.#abilitiesOf(manner)));
    return {
      reply: builder.kept(scrubber, fault),
      fault: fault === null ? null : { ...fault, message: scrubber.scrub(fault.message) },
      usage: builder.usage,
      began: progress.began,
      sent,
      learnt: next !== null,
      startedAtMs,
      shows: healthOf(fault, limits),
    };
  }

  async #read({ request, body, guard, builder, progress }: Reading): Promise<void> {
    const client = await (this.#client ??= this.#connect());
    const asked = client.chat.completions.create(body as unknown as OpenAI.ChatCompletionCreateParams, {
      signal: guard.signal,
      timeout: LONGEST_TIMER_MS,
    });
    const response = await asked.asResponse();
    progress.began = true;
    const isStream = body['stream'] === true && !/json|html/iu.test(response.headers.get('content-type') ?? '');
    if (!isStream) {
      builder.take(JSON.parse(await response.text()));
      if (!builder.isTooLarge && builder.text !== '') request.onText?.(this.#options.scrubber.scrub(builder.text));
      return;
    }
    const { Stream } = await import('openai/streaming');
    const show = this.#options.scrubber.growing();
    for await (const piece of Stream.fromSSEResponse(response, guard.controller, client)) {
      const before = builder.text.length;
      if (!builder.take(piece)) break;
      if (builder.text.length > before) request.onText?.(show(builder.text));
    }
  }

  #abilitiesOf({ model, supportsSchema }: { model: string; supportsSchema: boolean }): Abilities {
    return this.#abilities.get(model) ?? allAbilities(supportsSchema);
  }

  /** The library is large: a process that never asks a model never loads it. */
  async #connect(): Promise<OpenAI> {
    const { OpenAI: Client } = await import('openai');
    const { baseUrl, key } = this.#endpoint;
    return new Client({
      baseURL: baseUrl,
      apiKey: key?.reveal() ?? 'none',
      adminAPIKey: null,
      organization: null,
      project: null,
      webhookSecret: null,
      maxRetries: 0,
      logLevel: 'off',
      fetch: boundedFetch(this.#options.fetch),
    });
  }
}

export interface Limits {
  /** Milliseconds that one try may take. */
  readonly timeoutMs: number;
  /** Milliseconds that are left in all. */
  readonly leftMs: number;
}

interface Reading {
  readonly request: ModelRequest;
  readonly body: Record<string, unknown>;
  readonly guard: Guard;
  readonly builder: ReplyBuilder;
  readonly progress: { began: boolean };
}

function healthOf(fault: Fault | null, { leftMs, timeoutMs }: Limits): Try['shows'] {
  if (fault?.code === 'ABORTED') return 'nothing';
  // It was given less time than it may take.
  if (fault?.code === 'TIMEOUT' && leftMs < timeoutMs) return 'nothing';
  return fault !== null && isIllness(fault.code) ? 'illness' : 'health';
}

/** Ends a request when its time is over or nobody wants it any more, and knows which of the two it was. */
class Guard {
  readonly controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  readonly #timeoutMs: number;
  readonly #abort = () => this.controller.abort();
  #timedOut = false;

  constructor(outer: AbortSignal, timeoutMs: number) {
    this.#outer = outer;
    this.#timeoutMs = Math.max(1, Math.min(LONGEST_TIMER_MS, Math.ceil(timeoutMs)));
    this.#timer = setTimeout(() => {
      this.#timedOut = true;
      this.controller.abort();
    }, this.#timeoutMs);
    outer.addEventListener('abort', this.#abort, { once: true });
    if (outer.aborted) this.controller.abort();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  fault(): Fault | null {
    if (this.#outer.aborted) return { code: 'ABORTED', message: 'nobody wants the reply any more' };
    if (this.#timedOut) return { code: 'TIMEOUT', message: `no whole reply within ${this.#timeoutMs} ms` };
    return null;
  }

  release(): void {
    clearTimeout(this.#timer);
    this.#outer.removeEventListener('abort', this.#abort);
  }
}
