import type { AttemptKey, DeviceId } from '#proto';
import type { Attempt, AttemptOrder, Stop } from '#libs/attempt';

/** Why an attempt is no longer this process's to carry out. */
export type Interruption =
  /** Its end is stored already. */
  | 'finished'
  /** Another instance took it over. */
  | 'foreign'
  /** The session of its device is lost. */
  | 'lost'
  /** This process is about to end. */
  | 'shutdown';

/** `unserved`: nobody has it, and this replica cannot serve the agent that it is for. */
export type Carried = 'ended' | 'left' | 'unserved';

/** An attempt that this process is carrying out, and what it has learnt about it meanwhile. */
export class LiveAttempt {
  readonly order: AttemptOrder;
  readonly done: Promise<Carried>;
  readonly #ending = new AbortController();
  readonly #halting = new AbortController();
  #news = Promise.withResolvers<void>();
  #interruption: Interruption | null = null;
  #stop: Stop | null = null;

  constructor(order: AttemptOrder, carryOut: (live: LiveAttempt) => Promise<Carried>) {
    this.order = order;
    this.done = Promise.resolve().then(() => carryOut(this));
  }

  /** Aborted with the first interruption: ends every waiting. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Aborted with the first interruption or a stop: ends what nobody wants any more, as a model's reply. */
  get halted(): AbortSignal {
    return this.#halting.signal;
  }

  /** Resolves when something may have changed: a stop, an interruption, a commit of somebody else. */
  get news(): Promise<void> {
    return this.#news.promise;
  }

  get interruption(): Interruption | null {
    return this.#interruption;
  }

  get stop(): Stop | null {
    return this.#stop;
  }

  requestStop(stop: Stop): void {
    this.#stop ??= stop;
    this.#halting.abort();
    this.tell();
  }

  interrupt(why: Interruption): void {
    this.#interruption ??= why;
    this.#ending.abort();
    this.#halting.abort();
    this.tell();
  }

  /** Wakes who waits for news. */
  tell(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }

  /** Takes over what the log says: an end and a foreign owner are obeyed at once, a stop before the next request. */
  learn(attempt: Attempt, instance: string): void {
    if (attempt.stop !== null) this.requestStop(attempt.stop);
    if (attempt.finished !== null) this.interrupt('finished');
    else if (attempt.owner !== null && attempt.owner !== instance) this.interrupt('foreign');
  }
}

/** All attempts that this process is carrying out: a second delivery joins the first, a signal finds its attempt. */
export class LiveAttempts {
  readonly #byKey = new Map<string, LiveAttempt>();
  #closed = false;

  get size(): number {
    return this.#byKey.size;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Begins the attempt, unless this process is at it already: then that one's end is the end of both. */
  carryOut(order: AttemptOrder, work: (live: LiveAttempt) => Promise<Carried>): Promise<Carried> {
    const key = textOf(order.key);
    const running = this.#byKey.get(key);
    if (running !== undefined) return running.done;
    const live = new LiveAttempt(order, (self) => work(self).finally(() => this.#byKey.delete(key)));
    if (this.#closed) live.interrupt('shutdown');
    this.#byKey.set(key, live);
    return live.done;
  }

  find(key: AttemptKey): LiveAttempt | undefined {
    return this.#byKey.get(textOf(key));
  }

  onDevice(deviceId: DeviceId): LiveAttempt[] {
    return [...this.#byKey.values()].filter(({ order }) => order.start.deviceId === deviceId);
  }

  /** Ends all of them without an end, and every one that is begun from now on. */
  leave(): void {
    this.#closed = true;
    for (const live of this.#byKey.values()) live.interrupt('shutdown');
  }
}

function textOf({ runId, taskId, attempt }: AttemptKey): string {
  return `${runId}.${taskId}.${attempt}`;
}
