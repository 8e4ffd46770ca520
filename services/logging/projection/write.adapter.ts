import {
  In,
  QueryFailedError,
  type DataSource,
  type EntityManager,
  type EntitySchema,
  type ObjectLiteral,
} from 'typeorm';
import { CheckpointEntity } from '../entities/index.js';

/** A statement takes 65,535 parameters; the widest table has 21 columns. */
const ROWS_PER_STATEMENT = 1_000;

export interface Step {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** When what stands at `to` was recorded, if the projection tells it. */
  readonly at?: string | undefined;
}

/** The position up to which `name` is projected; 0 before the first. */
export async function checkpointOf(source: DataSource, name: string): Promise<number> {
  const repository = source.getRepository(CheckpointEntity);
  await repository.createQueryBuilder().insert().values({ name, sequence: 0, index: 0 }).orIgnore().execute();
  return (await repository.findOneByOrFail({ name })).sequence;
}

/**
 * Writes and moves the checkpoint in one transaction, if the checkpoint still is where this replica believes it to be;
 * false when another replica was faster. A crash leaves both or neither, so every commit is applied exactly once.
 */
export function applyOnce(source: DataSource, { name, from, to, at }: Step, write: Write): Promise<boolean> {
  return source.transaction(async (manager) => {
    const reached = { sequence: to, ...(at === undefined ? {} : { at }) };
    const moved = await manager.update(CheckpointEntity, { name, sequence: from }, reached);
    if (moved.affected !== 1) return false;
    await write(manager);
    return true;
  });
}

export type Write = (manager: EntityManager) => Promise<void>;

/**
 * Inserts rows or overwrites those with the same key: only the columns that the first row has. One statement per thousand
 * rows, written here because the mapper's own builder costs as much as all the rest of the projection.
 */
export async function upsertRows<T extends ObjectLiteral>(
  manager: EntityManager,
  entity: EntitySchema<T>,
  rows: readonly Partial<T>[],
): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const { driver } = manager.connection;
  const metadata = manager.connection.getMetadata(entity);
  const columns = metadata.columns.filter(({ propertyName }) => first[propertyName] !== undefined);
  const name = ({ databaseName }: { databaseName: string }) => driver.escape(databaseName);
  const kept = columns
    .filter(({ isPrimary }) => !isPrimary)
    .map((column) => `${name(column)} = excluded.${name(column)}`);
  const head = `insert into ${metadata.tablePath
    .split('.')
    .map((part) => driver.escape(part))
    .join('.')} (${columns.map(name).join(', ')})`;
  const tail = `on conflict (${metadata.primaryColumns.map(name).join(', ')}) do ${kept.length === 0 ? 'nothing' : `update set ${kept.join(', ')}`}`;
  for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT) {
    const parameters: unknown[] = [];
    const tuples = rows.slice(start, start + ROWS_PER_STATEMENT).map((row) => {
      const places = columns.map(
        (column) => `$${parameters.push(driver.preparePersistentValue(row[column.propertyName], column))}`,
      );
      return `(${places.join(', ')})`;
    });
    await manager.query(`${head} values ${tuples.join(', ')} ${tail}`, parameters);
  }
}

export async function deleteRows<T extends { runId: string; id: string }>(
  manager: EntityManager,
  entity: EntitySchema<T>,
  { runId, ids }: { runId: string; ids: readonly string[] },
): Promise<void> {
  if (ids.length === 0) return;
  await manager.delete(entity, { runId, id: In([...ids]) } as Parameters<typeof manager.delete<T>>[1]);
}

/** SQLSTATE classes that are about the data itself: the same rows would be refused for ever. */
const DATA_ERROR_CLASSES = new Set(['22', '23', '54']);

export function isDataError(error: unknown): boolean {
  if (!(error instanceof QueryFailedError)) return false;
  const { code } = error.driverError as { code?: unknown };
  return typeof code === 'string' && DATA_ERROR_CLASSES.has(code.slice(0, 2));
}
