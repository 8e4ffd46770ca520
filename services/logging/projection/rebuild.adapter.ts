import type { Logger } from 'pino';
import { In, type DataSource } from 'typeorm';
import { stopping, untilItWorks, type Postgres } from '#libs/platform';
import { CheckpointEntity, PROJECTED } from '../entities/index.js';

/** The same database, ready as soon as the projection in it is empty: the followers replay the streams from their first message. */
export function emptied(postgres: Postgres, logger: Logger): Pick<Postgres, 'ready'> {
  const empty = async (): Promise<DataSource> => {
    const source = await postgres.ready();
    await forgetProjection(source);
    logger.info('projection emptied: replaying the streams');
    return source;
  };
  const ready = untilItWorks(empty, { what: 'rebuild', logger, signal: stopping.signal });
  // A part that needs the rejection waits for `ready()`; a stop before that is no failure.
  ready.catch(() => undefined);
  return { ready: () => ready };
}

/** Not what was published or buried. */
async function forgetProjection(source: DataSource): Promise<void> {
  await source.transaction(async (manager) => {
    const tables = PROJECTED.map((entity) => source.getMetadata(entity).tablePath);
    await manager.query(
      `truncate ${tables.map((table) => source.driver.escape(table).replaceAll('.', '"."')).join(', ')}`,
    );
    const followed = ['RUNS', 'ATTEMPTS', 'PLANS', 'FLEET', 'ATTENTION', 'DLQ', 'SEARCH', 'FIGURES'];
    await manager.delete(CheckpointEntity, { name: In(followed) });
  });
}
