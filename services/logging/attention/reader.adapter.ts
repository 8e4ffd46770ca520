import type { DataSource, ObjectLiteral, SelectQueryBuilder } from 'typeorm';
import type { AttentionAbout, AttentionEntry, AttentionId } from '#proto';
import { refused, type QueryRequest } from '#libs/messaging';
import type { Clock, Postgres } from '#libs/platform';
import { AttentionEntity, AttentionWordEntity, type AttentionRow, type AttentionWordRow } from '../entities/index.js';

/** Which entries somebody asks for. */
export type AttentionWanted = Omit<QueryRequest<'logging', 'attention'>, 'limit'> & { readonly limit: number };

type AttentionFilter = Pick<AttentionWanted, 'kind' | 'runId' | 'deviceId' | 'id'>;

/** How many are not settled: those that nobody took on, and those that somebody did. */
interface AttentionCounts {
  readonly open: number;
  readonly taken: number;
}

type Joined = AttentionRow & { readonly word?: AttentionWordRow | null };

/** Reads of the inbox. */
export class AttentionReader {
  readonly #postgres: Pick<Postgres, 'ready' | 'isReady'>;
  readonly #clock: Clock;

  constructor(postgres: Pick<Postgres, 'ready' | 'isReady'>, clock: Clock) {
    this.#postgres = postgres;
    this.#clock = clock;
  }

  /** Newest first; one more than `limit` when there are more. Throws QueryRefusedError when there is no entry `before`. */
  async list({ kind, runId, deviceId, all = false, id, before, limit }: AttentionWanted): Promise<AttentionEntry[]> {
    const source = await this.#source();
    const query = this.#living(source.getRepository(AttentionEntity).createQueryBuilder('entry'))
      .leftJoinAndMapOne('entry.word', AttentionWordEntity.options.name, 'word', 'word.id = entry.id')
      .orderBy('entry.since', 'DESC')
      .addOrderBy('entry.id', 'ASC')
      .limit(limit + 1);
    if (!all) query.andWhere(UNSETTLED);
    wantedOf(query, { kind, runId, deviceId, id });
    if (before !== undefined) {
      const last = await source.getRepository(AttentionEntity).findOneBy({ id: before });
      if (last === null) {
        const issues = [{ path: 'before', message: 'must be the id of an entry' }];
        throw refused('NOT_FOUND', `There is no entry ${before}.`, issues);
      }
      const { since } = last;
      query.andWhere('(entry.since < :since or (entry.since = :since and entry.id > :before))', { since, before });
    }
    return ((await query.getMany()) as Joined[]).map(entryOf);
  }

  /** Of all, or of those for which all holds that is said. */
  async counts(wanted: AttentionFilter = {}): Promise<AttentionCounts> {
    const source = await this.#source();
    const counted = await wantedOf(
      this.#living(source.getRepository(AttentionEntity).createQueryBuilder('entry')),
      wanted,
    )
      .leftJoin(AttentionWordEntity.options.name, 'word', 'word.id = entry.id')
      .andWhere(UNSETTLED)
      .select('count(*) filter (where word.state is null)', 'open')
      .addSelect('count(*) filter (where word.state is not null)', 'taken')
      .getRawOne<Record<keyof AttentionCounts, string>>();
    return { open: Number(counted?.open ?? 0), taken: Number(counted?.taken ?? 0) };
  }

  /** What an entry is about; undefined when nothing needs anybody under this id. */
  async find(attentionId: AttentionId): Promise<AttentionAbout | undefined> {
    const source = await this.#source();
    const query = this.#living(source.getRepository(AttentionEntity).createQueryBuilder('entry'));
    const row = await query.andWhere('entry.id = :attentionId', { attentionId }).getOne();
    return row === null ? undefined : aboutOf(row);
  }

  /** Those that did not end by the clock. */
  #living<T extends ObjectLiteral>(query: SelectQueryBuilder<T>): SelectQueryBuilder<T> {
    const now = new Date(this.#clock.now()).toISOString();
    return query.where('(entry.until is null or entry.until > :now)', { now });
  }

  /** Never waits for a server that is away: whoever asks is refused at once. */
  #source(): Promise<DataSource> {
    if (!this.#postgres.isReady()) return Promise.reject(refused('TRY_AGAIN', 'PostgreSQL is not there yet.'));
    return this.#postgres.ready();
  }
}

function wantedOf<T extends ObjectLiteral>(
  query: SelectQueryBuilder<T>,
  { kind, runId, deviceId, id }: AttentionFilter,
): SelectQueryBuilder<T> {
  if (kind !== undefined) query.andWhere('entry.kind in (:...kind)', { kind });
  if (runId !== undefined) query.andWhere('entry.runId = :runId', { runId });
  if (deviceId !== undefined) query.andWhere('entry.deviceId = :deviceId', { deviceId });
  // An id has letters and digits only: nothing in it is a pattern.
  if (id !== undefined) query.andWhere('entry.id like :id', { id: `${id}%` });
  return query;
}

const UNSETTLED = `(word.state is null or word.state <> 'settled')`;

function aboutOf({ kind, key, runId, taskId, deviceId }: AttentionRow): AttentionAbout {
  return {
    kind,
    key,
    ...(runId !== null && { runId }),
    ...(taskId !== null && { taskId }),
    ...(deviceId !== null && { deviceId }),
  };
}

function entryOf({ word, ...row }: Joined): AttentionEntry {
  const { id, what, next, since } = row;
  const said = word ?? { state: 'open' as const, by: null, at: null, reason: null };
  const { state, by, at, reason } = said;
  return { id, ...aboutOf(row), what, next, since, state, by, at, reason };
}
