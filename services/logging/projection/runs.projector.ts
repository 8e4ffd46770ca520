import type { NatsConnection } from '@nats-io/transport-node';
import { In, Not, type DataSource, type EntityManager } from 'typeorm';
import { KINDS_OF_RUNS } from '#libs/attention';
import { parseWith, RunCommit, runIdOfSubject, sentenceOf, subjects, parseJson, type RunId } from '#proto';
import { evolveCommit, type Run } from '#libs/constellation';
import { readCommits, type StreamEntry } from '#libs/event-log';
import { lastByKey, startsOf } from './attempt-rows.js';
import { Burials, type BurialParts } from './dead-letter.adapter.js';
import {
  AttemptEntity,
  AttentionEntity,
  BrokenRunEntity,
  CommitEntity,
  LineEntity,
  RunEntity,
  RunLabelEntity,
  TaskEntity,
  type BrokenRunRow,
} from '../entities/index.js';
import type { PreparedBatch, Projection } from './follow.projector.js';
import { RunCache, type CachedRun } from './run-cache.js';
import { changeOf, type RunChange } from './run-rows.js';
import { deleteRows, upsertRows } from './write.adapter.js';

/** Bytes of commits whose runs are kept folded. */
const CACHE_BYTES_MAX = 64 * 1024 * 1024;
/** Reading one run again from the log takes milliseconds; longer means that the server is away. */
const REBUILD_MS_MAX = 30_000;

export interface RunsOptions extends BurialParts {
  readonly nc: NatsConnection;
}

/** What a batch does to one run: its state before the batch, which is what the rows say, and after it. */
interface Staged extends CachedRun {
  readonly before: Run | undefined;
  readonly streamSequence: number;
}

interface Batch {
  readonly staged: Map<RunId, Staged>;
  readonly commits: { entry: StreamEntry; commit: RunCommit }[];
  readonly broken: { entry: StreamEntry; row: BrokenRunRow }[];
}

/** RUNS -> tables run, task, line, commit and the start of attempts: the same fold as everywhere, written as far as it changed. */
export class RunsProjection implements Projection {
  readonly stream = 'RUNS';
  readonly #options: RunsOptions;
  readonly #cache = new RunCache(CACHE_BYTES_MAX);
  readonly #broken = new Set<RunId>();
  readonly #buried: Burials;

  constructor(options: RunsOptions) {
    this.#options = options;
    this.#buried = new Burials(this.stream, options);
  }

  async begin(source: DataSource): Promise<void> {
    const rows = await source.getRepository(BrokenRunEntity).find({ select: { runId: true } });
    this.#broken.clear();
    for (const { runId } of rows) this.#broken.add(runId);
    await this.#buried.begin(source);
  }

  async prepare(entries: readonly StreamEntry[], refused?: string): Promise<PreparedBatch> {
    const batch: Batch = { staged: new Map(), commits: [], broken: [] };
    for (const entry of entries) {
      const reason = refused ?? (await this.#take(batch, entry));
      if (reason !== undefined) this.#give(batch, entry, reason);
    }
    const changes = [...batch.staged.values()].map(({ before, run, streamSequence }) =>
      changeOf(before, run, streamSequence),
    );
    return {
      write: (manager) => this.#write(manager, batch, changes),
      applied: () => {
        for (const staged of batch.staged.values()) this.#cache.put(staged);
        for (const { row } of batch.broken) this.#broken.add(row.runId);
      },
    };
  }

  /** Folds one commit into the batch; a reason when it cannot be. */
  async #take(batch: Batch, entry: StreamEntry): Promise<string | undefined> {
    const runId = runIdOfSubject(entry.subject) ?? '';
    const isBroken = this.#broken.has(runId) || batch.broken.some(({ row }) => row.runId === runId);
    const parsed = parseWith(RunCommit, parseJson(entry.data));
    if (!parsed.ok) return isBroken ? undefined : parsed.issues.map(sentenceOf).join('; ');
    const commit = parsed.value;
    if (commit.runId !== runId) return isBroken ? undefined : `it says that it belongs to the run ${commit.runId}`;
    batch.commits.push({ entry, commit });
    if (isBroken) return undefined;
    const known = batch.staged.get(runId);
    const held = known ?? this.#cache.get(runId, commit.number - 1) ?? (await this.#rebuild(runId, entry, commit));
    if (typeof held === 'string') return held;
    const run = fold(held?.run, commit);
    if (typeof run === 'string') return run;
    batch.staged.set(runId, {
      before: known === undefined ? held?.run : known.before,
      run,
      bytes: (held?.bytes ?? 0) + entry.data.length,
      streamSequence: entry.sequence,
    });
    return undefined;
  }

  /** The run as it was before this entry, from the log; undefined for a first commit. */
  async #rebuild(runId: RunId, until: StreamEntry, { number }: RunCommit): Promise<CachedRun | string | undefined> {
    if (number === 1) return undefined;
    const signal = AbortSignal.timeout(REBUILD_MS_MAX);
    const options = { afterSequence: 0, filter: subjects.run(runId), signal };
    let cached: CachedRun | undefined;
    for await (const entry of readCommits(this.#options.nc, this.stream, options)) {
      if (entry.sequence >= until.sequence) return cached;
      const parsed = parseWith(RunCommit, parseJson(entry.data));
      const run = parsed.ok ? fold(cached?.run, parsed.value) : parsed.issues.map(sentenceOf).join('; ');
      if (typeof run === 'string') return run;
      cached = { run, bytes: (cached?.bytes ?? 0) + entry.data.length };
    }
    throw new Error(`run ${runId} could not be read from the log in time`);
  }

  /** Gives up on the run of this entry, for good; everything else goes on. */
  #give(batch: Batch, entry: StreamEntry, reason: string): void {
    const runId = runIdOfSubject(entry.subject) ?? '';
    const at = new Date(this.#options.clock.now()).toISOString();
    batch.broken.push({ entry, row: { runId, streamSequence: entry.sequence, reason, at } });
  }

  async #write(manager: EntityManager, batch: Batch, changes: readonly RunChange[]): Promise<void> {
    await upsertRows(
      manager,
      RunEntity,
      changes.map(({ run }) => run),
    );
    await upsertRows(
      manager,
      RunLabelEntity,
      changes.flatMap(({ labels }) => labels),
    );
    await upsertRows(
      manager,
      TaskEntity,
      changes.flatMap(({ tasks }) => tasks),
    );
    await upsertRows(
      manager,
      LineEntity,
      changes.flatMap(({ lines }) => lines),
    );
    for (const { run, tasksGone, linesGone } of changes) {
      await deleteRows(manager, TaskEntity, { runId: run.runId, ids: tasksGone });
      await deleteRows(manager, LineEntity, { runId: run.runId, ids: linesGone });
    }
    await this.#writeAttention(manager, changes);
    await upsertRows(manager, CommitEntity, batch.commits.map(commitRow));
    await upsertRows(manager, AttemptEntity, lastByKey(batch.commits.flatMap(({ commit }) => startsOf(commit))));
    await this.#bury(manager, batch.broken);
  }

  /** What is over leaves whoever has written it, and from whatever state. */
  async #writeAttention(manager: EntityManager, changes: readonly RunChange[]): Promise<void> {
    const rows = changes.flatMap(({ attention }) => attention);
    const runs = changes.map(({ run }) => run.runId);
    const over = { runId: In(runs), kind: In([...KINDS_OF_RUNS]), id: Not(In(rows.map(({ id }) => id))) };
    if (runs.length > 0) await manager.delete(AttentionEntity, over);
    await upsertRows(manager, AttentionEntity, rows);
  }

  /** Last of all, when nothing else can be refused. */
  async #bury(manager: EntityManager, broken: Batch['broken']): Promise<void> {
    await upsertRows(
      manager,
      BrokenRunEntity,
      broken.map(({ row }) => row),
    );
    for (const { entry, row } of broken) await this.#buried.add(manager, entry, row.reason);
  }
}

function commitRow({ entry, commit }: { entry: StreamEntry; commit: RunCommit }) {
  const { runId, number, hash, at, events } = commit;
  const types = [...new Set(events.map(({ type }) => type))];
  return { streamSequence: entry.sequence, runId, number, hash, at, types, commit };
}

/** The next state, or why there is none: a gap, a broken link, a fact that contradicts the history. */
function fold(run: Run | undefined, commit: RunCommit): Run | string {
  const number = (run?.number ?? 0) + 1;
  if (commit.number !== number) return `it has the number ${commit.number}, the next one is ${number}`;
  if (run !== undefined && commit.prevHash !== run.hash) return 'prevHash is not the hash of the commit before it';
  const [first] = commit.events;
  if (run === undefined && first?.type !== 'RUN_REQUESTED' && first?.type !== 'RUN_FORKED') {
    return 'a run begins with RUN_REQUESTED or RUN_FORKED';
  }
  try {
    return evolveCommit(run, commit);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
