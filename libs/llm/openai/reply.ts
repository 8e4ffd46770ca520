import { LIMITS } from '#proto';
import type { Fault } from './fault.js';
import type { Scrubber } from './scrubber.js';

/** Of a reply that is too large this much is kept: enough to see what it was. */
const HEAD_BYTES_MAX = LIMITS.resultBytesMax;

export interface Tally {
  readonly prompt: number;
  readonly completion: number;
}

/** What a reply is made of, piece by piece. Trusts nothing about the pieces but that they are JSON. */
export class ReplyBuilder {
  #text = '';
  #bytes = 0;
  #refusal = '';
  #finish: string | null = null;
  #usage: Tally | null = null;
  #pieces = 0;

  /** Takes one `chat.completion.chunk`, or a whole `chat.completion`. False: the reply is larger than allowed, stop reading. */
  take(piece: unknown): boolean {
    const { choices, usage } = asRecord(piece);
    this.#usage = tallyOf(usage) ?? this.#usage;
    const choice = asRecord(Array.isArray(choices) ? (choices as unknown[])[0] : undefined);
    const said = asRecord(choice['delta'] ?? choice['message']);
    if (Array.isArray(choices)) this.#pieces++;
    if (typeof choice['finish_reason'] === 'string') this.#finish = choice['finish_reason'];
    if (typeof said['refusal'] === 'string') this.#refusal += said['refusal'];
    if (typeof said['content'] === 'string') this.#append(said['content']);
    return !this.isTooLarge;
  }

  /** The text so far. */
  get text(): string {
    return this.#text;
  }

  get usage(): Tally | null {
    return this.#usage;
  }

  get isTooLarge(): boolean {
    return this.#bytes > LIMITS.replyBytesMax;
  }

  /** What is kept, without keys; null when nothing came. Of a reply that is not whole the end may be half a key. */
  kept(scrubber: Scrubber, fault: Fault | null): string | null {
    if (this.#text === '') return null;
    const clean = fault === null ? scrubber.scrub(this.#text) : scrubber.growing()(this.#text);
    return this.isTooLarge ? headOf(clean) : clean.toWellFormed();
  }

  /** What is wrong with the reply as it is, once nothing more comes; null when it is whole. */
  fault(): Fault | null {
    if (this.isTooLarge) {
      return { code: 'REPLY_TOO_LARGE', message: `the reply is longer than ${LIMITS.replyBytesMax} bytes` };
    }
    if (this.#pieces === 0) {
      return { code: 'BAD_RESPONSE', message: 'the endpoint sent something that is not an answer of a model' };
    }
    if (this.#refusal !== '' && this.#text === '') {
      // Cut only after the keys were taken out of it: half a key would not be found.
      return { code: 'REFUSED', message: `the model refused: ${this.#refusal.toWellFormed()}` };
    }
    if (this.#finish === 'content_filter') return { code: 'REFUSED', message: 'a content filter stopped the reply' };
    if (this.#finish === 'length') return { code: 'REPLY_CUT', message: 'the model stopped at its limit of tokens' };
    if (this.#finish === null) return { code: 'STREAM_CUT', message: 'the stream ended before the reply was whole' };
    if (this.#text.trim() === '') return { code: 'EMPTY_REPLY', message: 'the model said nothing' };
    return null;
  }

  #append(text: string): void {
    this.#bytes += Buffer.byteLength(text);
    this.#text += text;
  }
}

function headOf(text: string): string {
  const bytes = Buffer.from(text.slice(0, HEAD_BYTES_MAX)).subarray(0, HEAD_BYTES_MAX);
  return bytes.toString('utf8').replace(/\uFFFD+$/u, '');
}

function tallyOf(usage: unknown): Tally | null {
  const { prompt_tokens: prompt, completion_tokens: completion } = asRecord(usage);
  return isCount(prompt) && isCount(completion) ? { prompt, completion } : null;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
