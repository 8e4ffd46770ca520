import type { Json } from '#proto';
import {
  type ChatModel,
  type ModelAnswer,
  type ModelErrorCode,
  type ModelRequest,
  costOf,
  type PriceTable,
  promptHash,
} from '../models/index.js';

/** A reply: text as it is, a value that is written as JSON, or what goes wrong instead. */
export type Scripted =
  | string
  | { readonly json: Json }
  | { readonly error: { readonly code: ModelErrorCode; readonly message: string }; readonly reply?: string };

/** `index`: how many requests came before this one. Undefined: the script is at its end. */
export type Script = (request: ModelRequest, index: number) => Scripted | undefined | Promise<Scripted | undefined>;

export interface ScriptedOptions {
  readonly model?: string;
  readonly prices?: PriceTable;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Of each reply; 4 characters are a token when absent. */
  readonly tokens?: { readonly prompt: number; readonly completion: number };
}

/** Says what it was told to say: for tests of those who ask. */
export class ScriptedChatModel implements ChatModel {
  /** What it was asked, in order. */
  readonly requests: ModelRequest[] = [];
  readonly #script: Script;
  readonly #options: ScriptedOptions;

  constructor(script: readonly Scripted[] | Script, options: ScriptedOptions = {}) {
    this.#script = typeof script === 'function' ? script : (_, index) => script[index];
    this.#options = options;
  }

  async ask(request: ModelRequest): Promise<ModelAnswer[]> {
    const index = this.requests.push(request) - 1;
    const startedAtMs = this.#now();
    const said = request.signal.aborted ? aborted : await Promise.race([this.#said(request, index), abortOf(request)]);
    const reply = typeof said === 'string' ? said : 'json' in said ? JSON.stringify(said.json) : (said.reply ?? null);
    if (reply !== null && !request.signal.aborted) request.onText?.(reply);
    return [this.#answer(request, { said, reply: reply?.toWellFormed() ?? null, startedAtMs })];
  }

  async #said(request: ModelRequest, index: number): Promise<Scripted> {
    try {
      return (
        (await this.#script(request, index)) ?? failing('BAD_REQUEST', `nothing was scripted for request ${index + 1}`)
      );
    } catch (error) {
      return failing('SERVER_ERROR', error instanceof Error ? error.message : String(error));
    }
  }

  #answer(
    request: ModelRequest,
    { said, reply, startedAtMs }: { said: Scripted; reply: string | null; startedAtMs: number },
  ): ModelAnswer {
    const { model = 'scripted', prices = {}, tokens } = this.#options;
    const used = tokens ?? { prompt: roughly(JSON.stringify(request.messages)), completion: roughly(reply ?? '') };
    return {
      model,
      endpoint: 'main',
      promptHash: promptHash(request.messages),
      parameters: {},
      reply,
      error: typeof said === 'object' && 'error' in said ? said.error : null,
      tokens: used,
      costUsd: costOf(used, model, prices),
      startedAt: new Date(startedAtMs).toISOString(),
      durationMs: Math.max(0, this.#now() - startedAtMs),
    };
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }
}

const failing = (code: ModelErrorCode, message: string): Scripted => ({ error: { code, message } });
const aborted = failing('ABORTED', 'nobody wants the reply any more');
const roughly = (text: string): number => Math.ceil(text.length / 4);

function abortOf({ signal }: ModelRequest): Promise<Scripted> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(aborted), { once: true });
  });
}
