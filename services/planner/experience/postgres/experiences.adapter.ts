import type { Logger } from 'pino';
import { openPostgres, readDatabaseUrl, stopping } from '#libs/platform';
import { openExperienceStore } from './experience-store.adapter.js';
import type { ExperienceStore } from '../index.js';
import { EXPERIENCE_MIGRATIONS, EXPERIENCE_SCHEMA, ExperienceEntity } from './experience.entity.js';

export interface Experiences {
  readonly store: ExperienceStore;
  onApplicationShutdown(): Promise<void>;
}

/**
 * The examples in Postgres, whenever the server is there; only who keeps some needs one. Without it plans are made all the same, so it
 * is none of the things that `/readyz` asks for.
 */
export async function openExperiences(logger: Logger): Promise<Experiences> {
  const postgres = await openPostgres({
    url: readDatabaseUrl(process.env),
    schema: EXPERIENCE_SCHEMA,
    entities: [ExperienceEntity],
    migrations: EXPERIENCE_MIGRATIONS,
    logger,
    signal: stopping.signal,
  });
  return { store: openExperienceStore(postgres), onApplicationShutdown: () => postgres.onApplicationShutdown() };
}
