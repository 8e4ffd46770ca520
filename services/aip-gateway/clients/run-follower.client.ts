import type { NatsConnection, Subscription } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { ClientTaskEnd } from '#libs/aip';
import { foldRun } from '#libs/constellation';
import { CorruptLogError, type RunLog } from '#libs/event-log';
import { HEADER_TYPES, subjects, type RunId } from '#proto';
import { runEndOf } from './client-run.js';
import type { RunEnd } from './whole-end.js';

/** The live copies of the log may get lost; the log itself is looked at this often. */
const LOOK_EVERY_MS = 3_000;
const ENDS = new Set(['RUN_COMPLETED', 'RUN_FAILED', 'RUN_CANCELLED']);

export interface FollowerParts {
  readonly nc: NatsConnection;
  readonly log: RunLog;
  readonly logger: Logger;
  /** Makes the end of what the log and the store hold; null: not now, its client does not take what it has been sent. */
  readonly whole: (end: RunEnd) => Promise<ClientTaskEnd | null>;
  /** Once; not after `stop`. */
  readonly ended: (end: ClientTaskEnd) => void;
}

/** Waits for the end of one run. What it hears on the way is only a reason to look: the log alone says how it ended. */
export class RunFollower {
  readonly #runId: RunId;
  readonly #parts: FollowerParts;
  readonly #subscription: Subscription;
  #lookAtMs = 0;
  /** Stream sequence up to which the run is known not to have ended. */
  #seen = 0;
  #looking = false;
  #again = false;
  #over = false;

  constructor(runId: RunId, parts: FollowerParts) {
    this.#runId = runId;
    this.#parts = parts;
    this.#subscription = parts.nc.subscribe(subjects.liveRun(runId), {
      callback: (error, message) => {
        if (error !== null) return parts.logger.warn({ err: error, runId }, 'the run is not heard of live');
        const types = message.headers?.get(HEADER_TYPES).split(',') ?? [];
        if (types.some((type) => ENDS.has(type))) this.look();
      },
    });
  }

  /** A few times a second; the first time it looks. */
  tick(nowMs: number): void {
    if (nowMs < this.#lookAtMs) return;
    this.#lookAtMs = nowMs + LOOK_EVERY_MS;
    this.look();
  }

  /** There may be news. */
  look(): void {
    this.#again = true;
    if (!this.#looking) void this.#lookUntilQuiet();
  }

  stop(): void {
    if (this.#over) return;
    this.#over = true;
    this.#subscription.unsubscribe();
  }

  async #lookUntilQuiet(): Promise<void> {
    this.#looking = true;
    while (this.#again && !this.#over) {
      this.#again = false;
      const end = await this.#read();
      if (end === null || this.#over) continue;
      this.stop();
      this.#parts.ended(end);
    }
    this.#looking = false;
  }

  async #read(): Promise<ClientTaskEnd | null> {
    const { log, logger, whole } = this.#parts;
    try {
      if ((await log.endsAt(this.#runId)) <= this.#seen) return null;
      const stored = await log.load(this.#runId);
      const run = foldRun(stored.map(({ commit }) => commit));
      const ended = run === undefined ? null : runEndOf(run);
      const end = ended === null ? null : await whole(ended);
      // One that is not told yet is looked at again.
      if (ended === null || end !== null) this.#seen = stored.at(-1)?.sequence ?? 0;
      return end;
    } catch (error) {
      if (error instanceof CorruptLogError) {
        logger.error({ err: error, runId: this.#runId }, 'the log of a run is damaged');
        return { status: 'failed', result: null, error: `the log of run ${this.#runId} is damaged` };
      }
      // The bus is away: the next look is due anyway.
      logger.warn({ err: error, runId: this.#runId }, 'the log of a run could not be read');
      return null;
    }
  }
}
