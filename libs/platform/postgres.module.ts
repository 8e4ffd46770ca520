import { type DynamicModule, Module } from '@nestjs/common';
import { readDatabaseUrl } from './config/index.js';
import { HealthIndicators } from './watch/index.js';
import { PlatformModule } from './platform.module.js';
import { openPostgres, type PostgresEntities, type PostgresMigrations } from './connections/index.js';
import { stopping } from './process/index.js';
import { LOGGER, part, POSTGRES } from './wiring/index.js';

export interface PostgresModuleOptions {
  /** The service whose PlatformModule it joins; the schema's name when absent. */
  readonly service?: string;
  /** Absent: the tables follow the entities (`synchronize`), in this schema only. */
  readonly migrations?: PostgresMigrations;
}

/** Provides POSTGRES: the entities' tables in a schema of their own, whenever the server is there. */
@Module({})
export class PostgresModule {}

/** Starts at once and connects in the background; `/readyz` is red until then. */
export function postgresModule(
  entities: PostgresEntities,
  schema: string,
  { service = schema, migrations }: PostgresModuleOptions = {},
): DynamicModule {
  return {
    module: PostgresModule,
    imports: [PlatformModule.forService(service)],
    providers: [
      part(POSTGRES, [LOGGER, HealthIndicators], async (logger, indicators) => {
        const options = { url: readDatabaseUrl(process.env), schema, entities, logger, signal: stopping.signal };
        const postgres = await openPostgres(migrations === undefined ? options : { ...options, migrations });
        indicators.register('postgres', () => postgres.check());
        return postgres;
      }),
    ],
    exports: [POSTGRES],
  };
}
