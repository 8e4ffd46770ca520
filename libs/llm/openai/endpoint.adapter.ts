import type { OpenAI } from 'openai';
import type { ModelRequest } from '../models/index.js';
import { CircuitBreaker, type BreakerOptions, type Shown } from './circuit.js';
import { connectOpenAi } from './client.adapter.js';
import { faultOf, type Fault } from './fault.js';
import { ReplyBuilder, type Tally } from './reply.js';
import { allAbilities, bodyOf, lesser, without, type Abilities, type Manner } from './request.js';
import { LONGEST_TIMER_MS, RequestGuard } from './request-guard.js';
import { isIllness } from './retry.js';
import type { Scrubber } from './scrubber.js';
import type { ModelEndpoint } from '../settings/index.js';

export interface EndpointOptions {
  readonly breaker: BreakerOptions;
  readonly scrubber: Scrubber;
  readonly now: () => number;
  readonly fetch: typeof globalThis.fetch;
}

/** What came of one request. */
export interface Try extends Shown {
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
}

/** One base URL with one key: its client, its circuit, and what is known of what it takes, by model. */
export class OpenAiEndpoint {
  readonly #endpoint: ModelEndpoint;
  readonly #options: EndpointOptions;
  readonly #circuit: CircuitBreaker;
  readonly #abilities = new Map<string, Abilities>();
  #client: Promise<OpenAI> | undefined;

  constructor(endpoint: ModelEndpoint, options: EndpointOptions) {
    this.#endpoint = endpoint;
    this.#options = options;
    this.#circuit = new CircuitBreaker(options.breaker, options.now);
  }

  /** Makes one request, or says that the circuit is open. */
  once(request: ModelRequest, manner: Manner & { supportsSchema: boolean }, limits: Limits): Promise<Try | 'open'> {
    return this.#circuit.run(() => this.#make(request, manner, limits));
  }

  async #make(request: ModelRequest, manner: Manner & { supportsSchema: boolean }, limits: Limits): Promise<Try> {
    const { now, scrubber } = this.#options;
    const startedAtMs = now();
    const sent = this.#abilitiesOf(manner);
    const guard = new RequestGuard(request.signal, Math.min(limits.timeoutMs, limits.leftMs));
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
    const client = await (this.#client ??= connectOpenAi(this.#endpoint, this.#options.fetch));
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
  readonly guard: RequestGuard;
  readonly builder: ReplyBuilder;
  readonly progress: { began: boolean };
}

function healthOf(fault: Fault | null, { leftMs, timeoutMs }: Limits): Try['shows'] {
  if (fault?.code === 'ABORTED') return 'nothing';
  // It was given less time than it may take.
  if (fault?.code === 'TIMEOUT' && leftMs < timeoutMs) return 'nothing';
  return fault !== null && isIllness(fault.code) ? 'illness' : 'health';
}
