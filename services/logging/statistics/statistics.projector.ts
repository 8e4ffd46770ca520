import type { NatsConnection } from '@nats-io/transport-node';
import { In, type DataSource } from 'typeorm';
import { runFiguresOf, type MeasuredRun } from '#libs/constellation';
import { readCommits, type StreamEntry } from '#libs/event-log';
import { parseJson, parseWith, RunCommit, runIdOfSubject, subjects, type RunEventType, type RunId } from '#proto';
import { RunFiguresEntity } from '../entities/index.js';
import { Burials, upsertRows, type BurialParts, type PreparedBatch, type Projection } from '../projection/index.js';
import { OpenRuns, type HeldRun } from './open-runs.js';

/** The name of its checkpoint. */
export const FIGURES = 'FIGURES';

/** Bytes of commits of open runs that are kept. */
const HELD_BYTES_MAX = 32 * 1024 * 1024;
/** Reading one run again from the log takes milliseconds; longer means that the server is away. */
const READ_MS_MAX = 30_000;

/** Facts after which a run may have other figures than before: its end, what takes it back, what is said about it since. */
const SETTLING: ReadonlySet<RunEventType> = new Set([
  'RUN_COMPLETED',
  'RUN_FAILED',
  'RUN_CANCELLED',
  'RUN_REOPENED',
  'RUN_ANNOTATED',
]);

export interface StatisticsProjectionParts extends BurialParts {
  readonly nc: NatsConnection;
}

/** What a batch does to the runs in it. */
interface Batch {
  /** Entries after which a run cannot be measured: its facts make no sense together. */
  readonly bad: { readonly entry: StreamEntry; readonly reason: string }[];
  readonly held: Map<RunId, HeldRun>;
  /** Null: it has not ended. */
  readonly figures: Map<RunId, MeasuredRun | null>;
}

/**
 * RUNS -> table run_figures: what the report of a run says of it in numbers, by the same function, for each run that has ended. It has a
 * checkpoint of its own beside that of the runs: what it costs holds up no list, and an installation that had runs before it had figures
 * over them reads RUNS from the beginning by itself.
 */
export class StatisticsProjection implements Projection {
  readonly stream = 'RUNS';
  readonly name = FIGURES;
  readonly #nc: NatsConnection;
  readonly #open = new OpenRuns(HELD_BYTES_MAX);
  readonly #buried: Burials;

  constructor(parts: StatisticsProjectionParts) {
    this.#nc = parts.nc;
    this.#buried = new Burials(this.stream, parts);
  }

  begin(source: DataSource): Promise<void> {
    return this.#buried.begin(source);
  }

  async prepare(entries: readonly StreamEntry[], refused?: string): Promise<PreparedBatch> {
    const batch: Batch = { bad: [], held: new Map(), figures: new Map() };
    let at: string | undefined;
    for (const entry of refused === undefined ? entries : []) {
      const commit = commitOf(entry);
      // What is no commit is buried where runs are projected.
      if (commit === undefined) continue;
      at = commit.at;
      await this.#take(batch, entry, commit);
    }
    const rows = [...batch.figures].flatMap(([runId, figures]) => (figures === null ? [] : [{ runId, figures }]));
    const open = [...batch.figures].flatMap(([runId, figures]) => (figures === null ? [runId] : []));
    return {
      at,
      write: async (manager) => {
        await upsertRows(manager, RunFiguresEntity, rows);
        if (open.length > 0) await manager.delete(RunFiguresEntity, { runId: In(open) });
        // Last of all, when nothing else can be refused.
        if (refused !== undefined) for (const entry of entries) await this.#buried.add(manager, entry, refused);
        for (const { entry, reason } of batch.bad) await this.#buried.add(manager, entry, reason);
      },
      applied: () => this.#keep(batch),
    };
  }

  async #take(batch: Batch, entry: StreamEntry, commit: RunCommit): Promise<void> {
    const { runId, number, events } = commit;
    const isSettling = events.some(({ type }) => SETTLING.has(type));
    const before = batch.held.get(runId) ?? this.#open.before(runId, number);
    // Of a run that nobody holds only what settles it is worth reading it again.
    if (before === undefined && !isSettling) return;
    const run =
      before === undefined
        ? await this.#read(runId, entry)
        : { commits: [...before.commits, commit], bytes: before.bytes + entry.data.length };
    batch.held.set(runId, run);
    if (isSettling) batch.figures.set(runId, this.#measured(batch, entry, run));
  }

  #measured(batch: Batch, entry: StreamEntry, { commits }: HeldRun): MeasuredRun | null {
    try {
      return runFiguresOf(commits);
    } catch (error) {
      batch.bad.push({ entry, reason: `its figures cannot be made: ${String(error)}` });
      return null;
    }
  }

  /** All of the run up to this entry, from the log. */
  async #read(runId: RunId, until: StreamEntry): Promise<HeldRun> {
    const signal = AbortSignal.timeout(READ_MS_MAX);
    const commits: RunCommit[] = [];
    let bytes = 0;
    const options = { afterSequence: 0, filter: subjects.run(runId), signal };
    for await (const entry of readCommits(this.#nc, this.stream, options)) {
      const commit = commitOf(entry);
      if (commit !== undefined) commits.push(commit);
      bytes += entry.data.length;
      if (entry.sequence >= until.sequence) return { commits, bytes };
    }
    throw new Error(`run ${runId} could not be read from the log in time`);
  }

  /** Runs that have ended are not held: mostly nothing comes after that. */
  #keep({ held, figures }: Batch): void {
    for (const [runId, run] of held) {
      if ((figures.get(runId) ?? null) === null) this.#open.put(runId, run);
      else this.#open.drop(runId);
    }
  }
}

function commitOf(entry: StreamEntry): RunCommit | undefined {
  const parsed = parseWith(RunCommit, parseJson(entry.data));
  return parsed.ok && parsed.value.runId === runIdOfSubject(entry.subject) ? parsed.value : undefined;
}
