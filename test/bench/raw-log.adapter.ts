import { jetstream, jetstreamManager, RetentionPolicy, StorageType, type JetStreamClient } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { AttemptCommit, RunCommit, StreamName } from '#proto';
import { readCommits, type StreamEntry } from '#libs/event-log';
import { type AttemptEntry, dataflowOf, type RunEntry } from './dataflow.js';
import type { Floor } from './target.js';

const STREAM = 'BENCH';
const ROOT = 'bench';
const PUBLISH_MS_MAX = 30_000;
const decoder = new TextDecoder();

/** Positions of RUNS and ATTEMPTS: what was stored after them is what a workload wrote. */
export interface LogPositions {
  readonly runs: number;
  readonly attempts: number;
}

/** JetStream alone, on the same server: plain publishes into a file-stored stream, no expectation, no reader. */
export class RawLog {
  readonly #nc: NatsConnection;
  readonly #js: JetStreamClient;

  private constructor(nc: NatsConnection) {
    this.#nc = nc;
    this.#js = jetstream(nc);
  }

  static async open(nc: NatsConnection): Promise<RawLog> {
    const jsm = await jetstreamManager(nc, { checkAPI: false });
    for (const half of ['RUN', 'ATTEMPT']) {
      await jsm.streams.add({
        name: `${STREAM}_${half}`,
        subjects: [`${ROOT}.${half.toLowerCase()}.>`],
        storage: StorageType.File,
        retention: RetentionPolicy.Limits,
      });
    }
    return new RawLog(nc);
  }

  /** Times of single appends, one after the other. */
  async single(bytes: number, count: number): Promise<number[]> {
    const data = new Uint8Array(bytes).fill(0x20);
    const times: number[] = [];
    for (let index = 0; index < count; index++) {
      const began = performance.now();
      await this.#js.publish(`${ROOT}.run.single`, data, { timeout: PUBLISH_MS_MAX });
      times.push(performance.now() - began);
    }
    return times;
  }

  /** Writes what these runs wrote once more: as many bytes, in the same order of cause, each as soon as its causes are stored. */
  async replay(runIds: readonly string[], after: LogPositions): Promise<Floor> {
    const wanted = new Set(runIds);
    const runs = await this.#stored('RUNS', after.runs, runEntry);
    const attempts = await this.#stored('ATTEMPTS', after.attempts, attemptEntry);
    const ofRuns = ({ runId }: { readonly runId: string }) => wanted.has(runId);
    const appends = dataflowOf(runs.filter(ofRuns), attempts.filter(ofRuns));
    const payload = new Uint8Array(Math.max(...appends.map(({ bytes }) => bytes))).fill(0x20);
    const stored = appends.map(() => Promise.withResolvers<void>());
    const began = performance.now();
    await Promise.all(
      appends.map(async ({ key, bytes, after: causes }, position) => {
        await Promise.all(causes.map((cause) => stored[cause]?.promise ?? Promise.resolve()));
        await this.#js.publish(`${ROOT}.${key}`, payload.subarray(0, bytes), { timeout: PUBLISH_MS_MAX });
        stored[position]?.resolve();
      }),
    );
    const elapsedMs = performance.now() - began;
    return { elapsedMs, appends: appends.length, bytes: appends.reduce((sum, { bytes }) => sum + bytes, 0) };
  }

  async lastSequence(stream: StreamName): Promise<number> {
    const jsm = await jetstreamManager(this.#nc, { checkAPI: false });
    return (await jsm.streams.info(stream)).state.last_seq;
  }

  async #stored<T>(stream: StreamName, after: number, entryOf: (entry: StreamEntry) => T): Promise<T[]> {
    const entries: T[] = [];
    const last = await this.lastSequence(stream);
    if (last <= after) return entries;
    for await (const entry of readCommits(this.#nc, stream, { afterSequence: after })) {
      entries.push(entryOf(entry));
      if (entry.sequence >= last) break;
    }
    return entries;
  }
}

function runEntry({ data }: StreamEntry): RunEntry {
  const { runId, number, causes, events } = JSON.parse(decoder.decode(data)) as RunCommit;
  return { runId, number, causes, events, bytes: data.length };
}

function attemptEntry({ data }: StreamEntry): AttemptEntry {
  const { runId, taskId, attempt, number } = JSON.parse(decoder.decode(data)) as AttemptCommit;
  return { runId, taskId, attempt, number, bytes: data.length };
}
