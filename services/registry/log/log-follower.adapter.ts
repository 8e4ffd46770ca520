import { setTimeout as sleep } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { z } from 'zod';
import { STREAMS } from '#proto';
import { parseCommits, readCommits, type Stored, type StreamEntry } from '#libs/event-log';
import { hearingTime } from '#libs/messaging';
import { Loop, untilItWorks } from '#libs/platform';
import { SharedLook } from './shared-look.js';

const CATCH_UP_MS_MAX = 1_000;
const FOLD_LOOK_MS_MAX = 10_000;
const CATCH_UP_LOOK_MS = 5;

interface LogOptions<C> {
  readonly nc: NatsConnection;
  readonly stream: 'FLEET' | 'ACTORS';
  readonly schema: z.ZodType<C>;
  readonly state: {
    /** Of an aggregate; undefined before its first fact. */
    endOf(id: string): { readonly sequence: number } | undefined;
    apply(stored: Stored<C>): void;
  };
  readonly logger: Logger;
}

/** Folds a stream from its first message and follows it: what other replicas append arrives here, too. */
export abstract class LogFollower<C> extends Loop {
  readonly #options: LogOptions<C>;
  readonly #listeners: ((id: string) => void)[] = [];
  readonly #damaged = new Set<string>();
  readonly #looks = new SharedLook(() => this.lastSequence());
  #folded = 0;

  constructor(options: LogOptions<C>) {
    super();
    this.#options = options;
  }

  /** Called whenever something is folded in: a fact about whom has this id in the stream. */
  onChange(listener: (id: string) => void): void {
    this.#listeners.push(listener);
  }

  /** Resolves when the stream is folded as it was then; waits for a stream that does not exist yet. */
  override async begin(): Promise<void> {
    const { stream: what, logger } = this.#options;
    const { signal } = this;
    const end = await untilItWorks(() => this.lastSequence(), { what, logger, signal });
    void super.begin();
    while (!(await this.reached(end, FOLD_LOOK_MS_MAX))) signal.throwIfAborted();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { nc, stream } = this.#options;
    for await (const entry of readCommits(nc, stream, { afterSequence: 0, signal })) {
      this.#apply(entry);
      this.#folded = entry.sequence;
    }
  }

  /** Stream sequence of the last message there is; throws while the stream does not exist. */
  async lastSequence(): Promise<number> {
    const { nc, stream } = this.#options;
    const jsm = await jetstreamManager(nc, { checkAPI: false });
    const { state } = await jsm.streams.info(STREAMS[stream].name);
    return state.messages === 0 ? 0 : state.last_seq;
  }

  /** The same for many who ask at once. */
  newest(): Promise<number> {
    return this.#looks.ask();
  }

  /** Stream sequence of the last message that is folded in. */
  get position(): number {
    return this.#folded;
  }

  /** True when everything up to this sequence is folded in, false when that took too long. */
  async reached(sequence: number, limitMs = CATCH_UP_MS_MAX): Promise<boolean> {
    if (this.#folded >= sequence) return true;
    const time = hearingTime(limitMs);
    const isOver = (): boolean => this.signal.aborted || time.over.aborted;
    while (this.#folded < sequence && !isOver()) await sleep(CATCH_UP_LOOK_MS);
    time.end();
    return this.#folded >= sequence;
  }

  #changed(id: string): void {
    for (const listener of this.#listeners) listener(id);
  }

  /** One damaged aggregate does not stop the others; its facts are not guessed either. */
  #apply({ subject, sequence, data }: StreamEntry): void {
    const { state, schema, stream, logger } = this.#options;
    const id = subject.split('.').at(-1) ?? subject;
    if (this.#damaged.has(id)) return;
    try {
      const known = state.endOf(id);
      if (known !== undefined && sequence <= known.sequence) return this.#changed(id);
      const parsed = parseCommits(subject, schema, [{ sequence, data }], { fromStart: known === undefined });
      for (const stored of parsed) state.apply(stored);
      this.#changed(id);
    } catch (error) {
      this.#damaged.add(id);
      logger.error({ err: error, id, sequence, stream }, 'a log is damaged');
    }
  }
}
