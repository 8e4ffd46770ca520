import type { DataSource } from 'typeorm';
import { CheckpointEntity, PROJECTED } from '../entities/index.js';

/** Forgets the projection, not what was published or buried: the followers replay the streams from their first message. */
export async function forgetProjection(source: DataSource): Promise<void> {
  await source.transaction(async (manager) => {
    const tables = PROJECTED.map((entity) => source.getMetadata(entity).tablePath);
    await manager.query(
      `truncate ${tables.map((table) => source.driver.escape(table).replaceAll('.', '"."')).join(', ')}`,
    );
    await manager.delete(CheckpointEntity, [{ name: 'RUNS' }, { name: 'ATTEMPTS' }, { name: 'PLANS' }]);
  });
}
