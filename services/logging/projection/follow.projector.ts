import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { DataSource } from 'typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { readCommits, type StreamEntry } from '#libs/event-log';
import type { Postgres } from '#libs/platform';
import { batches, type BatchLimits } from './batches.adapter.js';
import { Follower } from './follower.runner.js';
import { applyOnce, checkpointOf, isDataError, type Write } from './write.adapter.js';

const BATCH: BatchLimits = { itemsMax: 200, bytesMax: 4 * 1024 * 1024 };
/**
 * So far apart its transactions begin where commits come faster than that. A commit is projected at once when nothing was before it, and
 * what comes in a stream is projected together: each transaction costs the same for one commit and for ten.
 */
const PACE_MS = 50;
/** A replica that found another one at work looks again after this. */
const STANDBY_MS = 1_000;

/** What a stream is projected to. `prepare` makes the rows; nothing is taken for done before `applied`. */
export interface Projection {
  readonly stream: 'RUNS' | 'ATTEMPTS' | 'PLANS' | 'FLEET' | 'ATTENTION';
  /** Of its checkpoint; that of the stream when absent. */
  readonly name?: string;
  /** Called whenever following starts, after a failure too. */
  begin(source: DataSource): Promise<void>;
  /** `refused`: PostgreSQL refuses what this one entry means, for this reason; then it is buried. */
  prepare(entries: readonly StreamEntry[], refused?: string): Promise<PreparedBatch>;
}

export interface PreparedBatch {
  readonly write: Write;
  /** When the last commit of the batch was recorded, to be kept with the checkpoint. */
  readonly at?: string | undefined;
  applied(): void;
}

/** What one transaction did: up to which message, and how many. */
export interface AppliedBatch {
  readonly sequence: number;
  readonly commits: number;
}

export interface FollowProjectorOptions {
  readonly nc: NatsConnection;
  readonly postgres: Pick<Postgres, 'ready'>;
  readonly logger: Logger;
  /** Told after each transaction. */
  readonly onApplied: (stream: string, applied: AppliedBatch) => void;
  /** What goes into one transaction. */
  readonly batch?: BatchLimits;
}

/**
 * Follows one stream into Postgres, for ever:
 *
 *   checkpoint ──► read on ──► prepare a batch ──► one transaction: checkpoint, rows ──► read on
 *       ▲                                              │            │
 *       ├───── wait ◄── another replica was faster ◄───┘            │ the server is away or refused
 *       └───── back off ◄───────────────────────────────────────────┘
 *
 * Whatever happens it goes on from the checkpoint in the database, so nothing is lost and nothing is applied twice.
 */
export class StreamFollower extends Follower {
  readonly #projection: Projection;
  readonly #options: FollowProjectorOptions;

  constructor(projection: Projection, options: FollowProjectorOptions) {
    super(`projection of ${projectionName(projection)}`, options.logger);
    this.#projection = projection;
    this.#options = options;
  }

  /** Returns when another replica was faster, or when aborted. */
  protected async follow(signal: AbortSignal): Promise<void> {
    const { nc, postgres, batch = BATCH } = this.#options;
    const { stream } = this.#projection;
    const source = await postgres.ready();
    let from = await checkpointOf(source, projectionName(this.#projection));
    await this.#projection.begin(source);
    this.goesOn();
    let began = performance.now();
    const rest = async (): Promise<void> => {
      const left = began + PACE_MS - performance.now();
      if (left > 0) await sleep(left, undefined, { signal }).catch(() => undefined);
    };
    for await (const entries of batches(readCommits(nc, stream, { afterSequence: from, signal }), batch, rest)) {
      began = performance.now();
      const reached = await this.#apply(source, from, entries);
      if (reached === undefined) return;
      from = reached;
      this.goesOn();
      this.#options.onApplied(projectionName(this.#projection), { sequence: from, commits: entries.length });
    }
  }

  protected pause(signal: AbortSignal): Promise<void> {
    return sleep(STANDBY_MS, undefined, { signal });
  }

  /** The new checkpoint; undefined when another replica moved it. */
  async #apply(source: DataSource, from: number, entries: readonly StreamEntry[]): Promise<number | undefined> {
    try {
      return await this.#applyPrepared(source, from, entries);
    } catch (error) {
      if (!isDataError(error)) throw error;
      if (entries.length === 1) return this.#applyPrepared(source, from, entries, `PostgreSQL: ${String(error)}`);
    }
    // One of them is bad; one by one the others get through.
    let reached: number | undefined = from;
    for (const entry of entries) {
      if (reached === undefined) break;
      reached = await this.#apply(source, reached, [entry]);
    }
    return reached;
  }

  async #applyPrepared(
    source: DataSource,
    from: number,
    entries: readonly StreamEntry[],
    refused?: string,
  ): Promise<number | undefined> {
    const to = entries.at(-1)?.sequence ?? from;
    const prepared = await this.#projection.prepare(entries, refused);
    const step = { name: projectionName(this.#projection), from, to, at: prepared.at };
    if (!(await applyOnce(source, step, prepared.write))) return undefined;
    prepared.applied();
    return to;
  }
}

/** What a projection is called: in its checkpoint, in metrics and on /readyz. */
export function projectionName({ name, stream }: Projection): string {
  return name ?? stream;
}
