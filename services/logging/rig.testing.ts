import { pino } from 'pino';
import { DataSource, type EntityManager } from 'typeorm';
import type { NatsConnection } from '@nats-io/transport-node';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { subjects, type AttemptCommit, type RunCommit } from '#proto';
import { encodeCommit, openAttemptLog, openPlanLog, openRunLog, readCommits } from '#libs/event-log';
import { connectBus } from '#libs/messaging';
import { POSTGRES, systemClock, type Postgres } from '#libs/platform';
import {
  asksAs,
  type HistoryStep,
  moment,
  type Replica,
  startReplica,
  startTestNats,
  startTestPostgres,
  type TestNats,
} from '#libs/testing';
import { attemptsProjection } from './projection/attempts.projector.js';
import { DeadLetters } from './projection/dead-letter.adapter.js';
import { ENTITIES, SCHEMA } from './entities/index.js';
import type { LoggingConfig } from './logging.config.js';
import { LOGGING_CONFIG, LoggingModule } from './logging.module.js';
import { StreamFollower, type PreparedBatch, type Projection } from './projection/follow.projector.js';
import { ProjectionReader } from './projection/reader.adapter.js';
import { ReportWriter } from './reports/report.reactor.js';
import { plansProjection } from './projection/plans.projector.js';
import { RunsProjection } from './projection/runs.projector.js';
import { StatisticsProjection, StatisticsReader } from './statistics/index.js';
import { checkpointOf } from './projection/write.adapter.js';

export const logger = pino({ level: process.env['ORRERY_LOG_LEVEL'] ?? 'silent' });

/** Which commits took effect, written in the transaction of the projection itself: a second effect is a second row. */
const WITNESS = `${SCHEMA}.witness`;

/** A server with the streams, a database with the tables, and one history after the other appended to the logs. */
export class Rig {
  readonly closers: (() => Promise<unknown>)[] = [];
  readonly #ends = new Map<string, number>();
  readonly #waiting = new Set<() => void>();
  readonly #reached = new Map<string, number>();

  private constructor(
    readonly server: TestNats,
    readonly nc: NatsConnection,
    readonly source: DataSource,
  ) {}

  static async start(databaseUrl?: string): Promise<Rig> {
    const server = await startTestNats({ provisioned: true });
    const nc = await connectBus({ url: server.url, name: 'test', inboxPrefix: '_INBOX_test' });
    await asksAs(nc);
    const database = databaseUrl === undefined ? await startTestPostgres() : undefined;
    const source = await openSource(databaseUrl ?? database?.url ?? '');
    const rig = new Rig(server, nc, source);
    rig.closers.push(
      () => source.destroy(),
      async () => database?.stop(),
      () => nc.close(),
      () => server.stop(),
    );
    return rig;
  }

  async stop(): Promise<void> {
    for (const close of this.closers) await close();
  }

  get postgres(): Postgres {
    return postgresOf(this.source);
  }

  /** The service as it is put together. */
  service({ rebuild }: LoggingConfig = { rebuild: false }): Promise<Replica> {
    return startReplica(LoggingModule, {
      service: 'logging',
      nc: this.nc,
      instance: 'one',
      logger,
      providers: [
        { provide: POSTGRES, useValue: this.postgres },
        { provide: LOGGING_CONFIG, useValue: { rebuild } },
      ],
    });
  }

  get reader(): ProjectionReader {
    return new ProjectionReader(this.postgres);
  }

  /** The position of the step in its stream. */
  async append(step: HistoryStep): Promise<number> {
    const name = nameOf(step);
    const end = this.#ends.get(name) ?? 0;
    const appended =
      step.kind === 'run'
        ? await openRunLog(this.nc).append(step.commit.runId, step.commit, end)
        : step.kind === 'plan'
          ? await openPlanLog(this.nc).append(step.commit.runId, step.commit, end)
          : await openAttemptLog(this.nc).append({ ...step.commit, kind: step.subject }, step.commit, end);
    if (appended.kind !== 'appended') throw new Error(`${name} does not end at ${end}`);
    this.#ends.set(name, appended.sequence);
    return appended.sequence;
  }

  async appendAll(steps: readonly HistoryStep[]): Promise<void> {
    for (const step of steps) await this.append(step);
  }

  /** As the orchestrator never would. */
  async publishRaw(runId: string, body: string | RunCommit): Promise<number> {
    const data = typeof body === 'string' ? body : encodeCommit(body);
    return (await jetstream(this.nc).publish(subjects.run(runId), data)).seq;
  }

  async publishRawPlan(runId: string, body: string): Promise<number> {
    return (await jetstream(this.nc).publish(subjects.plan(runId), body)).seq;
  }

  async publishRawAttempt(commit: AttemptCommit, body: string): Promise<number> {
    return (await jetstream(this.nc).publish(subjects.attempt(commit, 'end'), body)).seq;
  }

  async lastSequence(stream: string): Promise<number> {
    const manager = await jetstreamManager(this.nc, { checkAPI: false });
    return (await manager.streams.info(stream)).state.last_seq;
  }

  runs(): RunsProjection {
    return new RunsProjection({ nc: this.nc, clock: systemClock, deadLetters: new DeadLetters(this.nc, systemClock) });
  }

  attempts(): Projection {
    return attemptsProjection({ clock: systemClock, deadLetters: new DeadLetters(this.nc, systemClock) });
  }

  plans(): Projection {
    return plansProjection({ clock: systemClock, deadLetters: new DeadLetters(this.nc, systemClock) });
  }

  statistics(): StatisticsProjection {
    const deadLetters = new DeadLetters(this.nc, systemClock);
    return new StatisticsProjection({ nc: this.nc, clock: systemClock, deadLetters });
  }

  /** `runsMax`: of how many runs figures are at most. */
  statisticsReader(runsMax?: number): StatisticsReader {
    return new StatisticsReader({ nc: this.nc, postgres: this.postgres, ...(runsMax !== undefined && { runsMax }) });
  }

  reports(): ReportWriter {
    return new ReportWriter({ nc: this.nc, postgres: this.postgres, reader: this.reader, logger });
  }

  /** A replica's follower; the caller begins and ends it. */
  follower(
    projection: Projection,
    { itemsMax = 200, source = this.source, onApplied = () => {} }: FollowerOptions = {},
  ) {
    return new StreamFollower(projection, {
      nc: this.nc,
      postgres: postgresOf(source),
      logger,
      batch: { itemsMax, bytesMax: 4 * 1024 * 1024 },
      onApplied: (stream, { sequence }) => {
        this.#reached.set(stream, Math.max(sequence, this.#reached.get(stream) ?? 0));
        onApplied();
        for (const look of this.#waiting) look();
      },
    });
  }

  /** Resolves when somebody's projection of the stream has come to this sequence. */
  async projected(stream: string, sequence: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = () => (this.#reached.get(stream) ?? 0) >= sequence && resolve();
    this.#waiting.add(look);
    look();
    await promise;
    this.#waiting.delete(look);
  }

  /** Resolves when the checkpoint in the database is where the stream ends: it is written with the rows. */
  async checkpointed(stream: 'RUNS' | 'ATTEMPTS' | 'PLANS'): Promise<void> {
    const last = await this.lastSequence(stream);
    while ((await checkpointOf(this.source, stream)) < last) await moment();
  }

  async caughtUp(...streams: ('RUNS' | 'ATTEMPTS' | 'PLANS')[]): Promise<void> {
    for (const stream of streams) await this.projected(stream, await this.lastSequence(stream));
  }

  /** The first `count` messages of a stream, as JSON. */
  async read(stream: 'FEED' | 'DLQ', count: number): Promise<Record<string, unknown>[]> {
    const found: Record<string, unknown>[] = [];
    if (count === 0) return found;
    for await (const { data } of readCommits(this.nc, stream, { afterSequence: 0 })) {
      found.push(JSON.parse(new TextDecoder().decode(data)) as Record<string, unknown>);
      if (found.length === count) break;
    }
    return found;
  }

  async witnessed(): Promise<number[]> {
    const rows = await this.source.query<{ sequence: string }[]>(`select sequence from ${WITNESS} order by sequence`);
    return rows.map(({ sequence }) => Number(sequence));
  }
}

interface FollowerOptions {
  readonly itemsMax?: number;
  readonly source?: DataSource;
  readonly onApplied?: () => void;
}

/** A projection whose every effect can be counted, and which can be made to die at a point of its way. */
export function witnessed(projection: Projection, at: (point: string) => void = () => {}): Projection {
  return {
    stream: projection.stream,
    ...(projection.name === undefined ? {} : { name: projection.name }),
    begin: (source) => projection.begin(source),
    prepare: async (entries, refused): Promise<PreparedBatch> => {
      at('read');
      const prepared = await projection.prepare(entries, refused);
      at('prepared');
      return {
        write: async (manager: EntityManager) => {
          at('in transaction');
          await prepared.write(manager);
          for (const { sequence } of entries) await manager.query(`insert into ${WITNESS} values ($1)`, [sequence]);
          at('written');
        },
        applied: () => {
          at('committed');
          prepared.applied();
        },
      };
    },
  };
}

export async function openSource(url: string): Promise<DataSource> {
  const source = new DataSource({
    type: 'postgres',
    url,
    schema: SCHEMA,
    entities: ENTITIES,
    synchronize: false,
    poolErrorHandler: () => {},
    extra: { max: 5 },
  });
  await source.initialize();
  await source.query(`create schema if not exists ${SCHEMA}`);
  await source.synchronize();
  await source.query(`create table if not exists ${WITNESS} (sequence bigint)`);
  return source;
}

export function postgresOf(source: DataSource): Postgres {
  return {
    ready: async () => source,
    isReady: () => true,
    check: async () => void (await source.query('select 1')),
    onApplicationShutdown: async () => {},
  };
}

/** A server that has never been there. */
export const AWAY: Postgres = {
  ready: () => new Promise(() => {}),
  isReady: () => false,
  check: () => Promise.reject(new Error('away')),
  onApplicationShutdown: async () => {},
};

/** Of the aggregate that a step belongs to. */
function nameOf(step: HistoryStep): string {
  const { runId } = step.commit;
  if (step.kind === 'run') return runId;
  return step.kind === 'plan' ? `${runId} plan` : `${runId} ${step.commit.taskId} ${step.commit.attempt}`;
}
