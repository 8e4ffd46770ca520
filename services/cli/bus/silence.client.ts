import type { NatsConnection } from '@nats-io/transport-node';
import { isRefusal } from '#libs/messaging';
import { unreachable } from '../terminal/index.js';
import type { Patience } from './patience.js';

/** How often the server is asked whether it is there, at most. */
const PING_EVERY_MS = 500;
const PINGS_MIN = 4;
/** After this long a person is told what is waited for. */
const TOLD_AFTER_MS = 1_000;
/** A connection that is this silent is made anew: one that is half open would never say that it is over. */
const RECONNECT_AFTER_MS = 5_000;
/** So often in a row: a server that reads its users anew refuses those that it knows, too, but only for a moment. */
const REFUSALS_MAX = 10;

/**
 * Throws CliError when the server of an open connection has said nothing for `silentMs`, whatever the command itself waits for. It is
 * time in which this process could have heard it: work that keeps the processor busy is no silence of the server. Throws `refused` when the
 * server does not let us in again: somebody revoked our key meanwhile.
 */
export async function untilSilent(
  nc: NatsConnection,
  {
    where,
    silentMs,
    say,
    over,
    refused,
  }: Pick<Patience, 'silentMs' | 'say'> & {
    readonly where: string;
    readonly over: AbortSignal;
    readonly refused: () => Error;
  },
): Promise<never> {
  const everyMs = Math.min(PING_EVERY_MS, silentMs / PINGS_MIN);
  const { promise, reject } = Promise.withResolvers<never>();
  const line = Line.of(nc);
  let silentForMs = 0;
  let isTold = false;
  const look = (): void => {
    if (line.refusals >= REFUSALS_MAX) return reject(refused());
    if (line.wasHeard()) {
      if (isTold) say(`${where} answers again`);
      isTold = false;
      silentForMs = 0;
      return;
    }
    silentForMs += everyMs;
    if (silentForMs >= silentMs) return reject(unreachable(`${where} has not answered for ${silentMs / 1_000} s.`));
    if (silentForMs >= TOLD_AFTER_MS && !isTold) {
      isTold = true;
      say(`${where} does not answer; waiting for up to ${silentMs / 1_000} s`);
    }
    if (silentForMs % RECONNECT_AFTER_MS < everyMs) line.renew();
  };
  const timer = setInterval(look, everyMs);
  over.addEventListener('abort', () => clearInterval(timer), { once: true });
  try {
    return await promise;
  } finally {
    clearInterval(timer);
  }
}

/** Whether the other side of a connection says anything: a ping is always under way. */
class Line {
  static readonly #lines = new WeakMap<NatsConnection, Line>();

  readonly #nc: NatsConnection;
  #isAsking = false;
  #answered = true;
  #bytes = 0;
  #refusals = 0;

  /** The same one for the same connection, which may be used again: its states are listened to once. */
  static of(nc: NatsConnection): Line {
    const line = Line.#lines.get(nc) ?? new Line(nc);
    Line.#lines.set(nc, line);
    return line;
  }

  private constructor(nc: NatsConnection) {
    this.#nc = nc;
    void this.#countRefusals();
  }

  /** How often we were not let in since we last were. */
  get refusals(): number {
    return this.#refusals;
  }

  /** Since the last time. */
  wasHeard(): boolean {
    const { inBytes } = this.#nc.stats();
    const heard = this.#answered || inBytes !== this.#bytes;
    this.#bytes = inBytes;
    this.#answered = false;
    this.#ask();
    return heard;
  }

  renew(): void {
    void this.#nc.reconnect().catch(() => undefined);
  }

  async #countRefusals(): Promise<void> {
    for await (const status of this.#nc.status()) {
      if (status.type === 'reconnect') this.#refusals = 0;
      else if (status.type === 'error' && isRefusal(status.error)) this.#refusals++;
    }
  }

  #ask(): void {
    if (this.#isAsking || this.#nc.isClosed()) return;
    void this.#ping();
  }

  async #ping(): Promise<void> {
    this.#isAsking = true;
    try {
      await this.#nc.flush();
      this.#answered = true;
    } catch {
      // The connection broke, and is being made anew.
    }
    this.#isAsking = false;
  }
}
