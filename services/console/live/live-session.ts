import type { Logger } from 'pino';
import {
  LIVE_CLOSE,
  LIVE_LIMITS,
  LiveWord,
  parseJson,
  parseWith,
  sentenceOf,
  type LiveErrorCode,
  type LiveTopic,
} from '#proto';
import { roleRefusal, type ConsoleCaller } from '../callers/index.js';
import { RefusedError } from '../http/index.js';
import type { AccessReading } from '../access/index.js';
import { ChannelError, type Channel, type LiveBody } from './channel.js';
import { readingOf, TOPIC_ACTIONS } from './topics.js';

/** Words that are none, until nobody listens to that client any more. */
const INVALID_MAX = 16;
/** Words that were not looked at yet. */
const WAITING_MAX = 2 * LIVE_LIMITS.channelsMax;
const MESSAGE_CHARS_MAX = 2_000;

interface Wire {
  send(text: string): Promise<boolean>;
  close(code: number, reason: string): void;
  /** Resolves when the client may say one more word. */
  turn(): Promise<void>;
  readonly signal: AbortSignal;
}

export interface LiveSessionParts {
  readonly wire: Wire;
  readonly caller: ConsoleCaller;
  /** Follows a topic to its end, or until nobody listens. Throws ChannelError. */
  readonly follow: (topic: LiveTopic, channel: Channel) => Promise<void>;
  /** Records what is about to be shown; throws RefusedError when that cannot be stored. */
  readonly reads: (reading: AccessReading) => Promise<void>;
  readonly logger: Pick<Logger, 'error'>;
}

/** One client of the live stream: what it says, in order, and the channels that it has opened. */
export class LiveSession {
  readonly #parts: LiveSessionParts;
  readonly #channels = new Map<number, AbortController>();
  #words: Promise<void> = Promise.resolve();
  #waiting = 0;
  #invalid = 0;

  constructor(parts: LiveSessionParts) {
    this.#parts = parts;
    parts.wire.signal.addEventListener('abort', () => {
      for (const closed of this.#channels.values()) closed.abort();
    });
  }

  /** A word of the client; each is looked at when what came before it was. */
  take(data: Uint8Array): void {
    const { wire } = this.#parts;
    if (wire.signal.aborted) return;
    this.#waiting += 1;
    if (this.#waiting > WAITING_MAX) return wire.close(LIVE_CLOSE.invalid, 'too many words at once');
    this.#words = this.#inTurn(this.#words, data);
  }

  async #inTurn(before: Promise<void>, data: Uint8Array): Promise<void> {
    await before;
    const { wire, logger } = this.#parts;
    await wire.turn();
    this.#waiting -= 1;
    try {
      if (!wire.signal.aborted) await this.#obey(data);
    } catch (err) {
      logger.error({ err }, 'a word on the live stream could not be obeyed');
      wire.close(LIVE_CLOSE.goingAway, 'the console could not go on');
    }
  }

  async #obey(data: Uint8Array): Promise<void> {
    const json = parseJson(data);
    const parsed = parseWith(LiveWord, json);
    if (!parsed.ok) return this.#misunderstood(json, parsed.issues.map(sentenceOf).join('; '));
    const { channel: number } = parsed.value;
    if (parsed.value.op === 'close') {
      this.#channels.get(number)?.abort();
      this.#channels.delete(number);
    } else if (this.#channels.has(number)) {
      await this.#refuse(number, 'IN_USE', `Channel ${number} is open: close it, or choose another number.`);
    } else if (this.#channels.size >= LIVE_LIMITS.channelsMax) {
      await this.#refuse(
        number,
        'TOO_MANY',
        `No more than ${LIVE_LIMITS.channelsMax} channels may be open: close one.`,
      );
    } else await this.#open(number, parsed.value.topic);
  }

  async #open(number: number, topic: LiveTopic): Promise<void> {
    const { caller, reads, wire } = this.#parts;
    const no = roleRefusal(caller, TOPIC_ACTIONS[topic.kind]);
    if (no !== undefined) return this.#refuse(number, 'FORBIDDEN', no);
    const reading = readingOf(topic);
    try {
      if (reading !== undefined) await reads(reading);
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      return this.#refuse(number, 'UNAVAILABLE', error.message);
    }
    if (wire.signal.aborted) return;
    const closed = new AbortController();
    this.#channels.set(number, closed);
    void this.#follow(number, topic, closed.signal);
  }

  async #follow(number: number, topic: LiveTopic, signal: AbortSignal): Promise<void> {
    const { wire, follow, logger } = this.#parts;
    const say = async (fields: string): Promise<boolean> =>
      !signal.aborted && (await wire.send(`{"channel":${number},${fields}}`)) && !signal.aborted;
    const channel: Channel = { signal, sayJson: say, say: (body: LiveBody) => say(JSON.stringify(body).slice(1, -1)) };
    let failure: ChannelError | undefined;
    try {
      await follow(topic, channel);
    } catch (error) {
      if (!signal.aborted) failure = error instanceof ChannelError ? error : unexpected(error, topic, logger);
    }
    // Whoever closed it may use its number again by now.
    if (signal.aborted) return;
    this.#channels.delete(number);
    if (failure !== undefined) await this.#refuse(number, failure.code, failure.message);
  }

  async #misunderstood(json: unknown, why: string): Promise<void> {
    this.#invalid += 1;
    if (this.#invalid > INVALID_MAX) return this.#parts.wire.close(LIVE_CLOSE.invalid, 'too many words that are none');
    const said = parseWith(LiveWord.options[1].pick({ channel: true }), { channel: Object(json).channel as unknown });
    await this.#refuse(said.ok ? said.value.channel : null, 'INVALID', json === undefined ? 'This is not JSON.' : why);
  }

  async #refuse(channel: number | null, code: LiveErrorCode, message: string): Promise<void> {
    const said = { channel, kind: 'error', code, message: message.slice(0, MESSAGE_CHARS_MAX) };
    await this.#parts.wire.send(JSON.stringify(said));
  }
}

function unexpected(err: unknown, { kind }: LiveTopic, logger: LiveSessionParts['logger']): ChannelError {
  logger.error({ err, topic: kind }, 'a channel of the live stream ended');
  return new ChannelError('UNAVAILABLE', 'The console could not follow this any further: open it again.');
}
