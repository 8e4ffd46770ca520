import type { DataSource, DataSourceOptions } from 'typeorm';
import type { Logger } from 'pino';
import { untilItWorks } from './backoff.js';

const POOL_MAX = 5;
const CONNECT_MS_MAX = 5_000;
const STATEMENT_MS_MAX = 30_000;
/** Two replicas that start together take turns at making the schema. */
const SCHEMA_LOCK = 0x0441e47;

export type PostgresEntities = NonNullable<DataSourceOptions['entities']>;
export type PostgresMigrations = NonNullable<DataSourceOptions['migrations']>;

/** A service's own schema in Postgres, which may come, go and come back while the service runs. */
export interface Postgres {
  /** The data source as soon as its tables exist; waits for the server. Rejects only when the process stops. */
  ready(): Promise<DataSource>;
  isReady(): boolean;
  /** Throws unless the tables exist and the server answers now. */
  check(): Promise<void>;
  onApplicationShutdown(): Promise<void>;
}

export interface PostgresOptions {
  readonly url: string;
  readonly schema: string;
  readonly entities: PostgresEntities;
  readonly migrations?: PostgresMigrations;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Loads the mapper only here: services without a database do not pay for it. */
export async function openPostgres(options: PostgresOptions): Promise<Postgres> {
  const typeorm = await import('typeorm');
  const { logger, signal } = options;
  let current: DataSource | undefined;
  const ready = untilItWorks(
    async () => {
      const source = new typeorm.DataSource(dataSourceOptions(options));
      try {
        await source.initialize();
        await prepare(source, options);
      } catch (error) {
        if (source.isInitialized) await source.destroy().catch(() => undefined);
        throw error;
      }
      current = source;
      logger.info({ schema: options.schema }, 'postgres: ready');
      return source;
    },
    { what: 'postgres', logger, signal },
  );
  // A part that needs the rejection waits for `ready()`; a stop before the first connection is no failure.
  ready.catch(() => undefined);
  return {
    ready: () => ready,
    isReady: () => current !== undefined,
    check: async () => {
      if (current === undefined) throw new Error('not connected yet');
      await current.query('select 1');
    },
    onApplicationShutdown: async () => {
      await current?.destroy();
    },
  };
}

function dataSourceOptions({ url, schema, entities, migrations, logger }: PostgresOptions): DataSourceOptions {
  return {
    type: 'postgres',
    url,
    schema,
    entities,
    ...(migrations === undefined ? {} : { migrations, migrationsTableName: 'migration' }),
    synchronize: false,
    logging: false,
    applicationName: `orrery-${schema}`,
    installExtensions: false,
    // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
    poolErrorHandler: (error: unknown) => logger.warn({ reason: String(error) }, 'postgres: connection lost'),
    connectTimeoutMS: CONNECT_MS_MAX,
    poolSize: POOL_MAX,
    extra: { statement_timeout: STATEMENT_MS_MAX, query_timeout: STATEMENT_MS_MAX, keepAlive: true },
  };
}

/** Makes the schema and brings its tables up to date, one replica at a time. */
async function prepare(source: DataSource, { schema, migrations }: PostgresOptions): Promise<void> {
  const lock = source.createQueryRunner();
  try {
    await lock.query('select pg_advisory_lock($1)', [SCHEMA_LOCK]);
    // A service user may own its schema without the right to make one: look before making it.
    const [found] = (await lock.query('select 1 from pg_namespace where nspname = $1', [schema])) as unknown[];
    if (found === undefined) await lock.createSchema(schema, true);
    await (migrations === undefined ? source.synchronize() : source.runMigrations({ transaction: 'each' }));
  } finally {
    await lock.query('select pg_advisory_unlock($1)', [SCHEMA_LOCK]).catch(() => undefined);
    await lock.release();
  }
}
