import type { NatsConnection } from '@nats-io/transport-node';
import { In, QueryFailedError, type DataSource, type EntityManager } from 'typeorm';
import { STREAMS, type CommandId, type FoundCommand, type SearchAnswer, type SearchRequest } from '#proto';
import { lastStored, QueryRefusedError, refused } from '#libs/messaging';
import type { Clock, Postgres } from '#libs/platform';
import { Slots } from '#libs/slots';
import {
  CheckpointEntity,
  CommandEntity,
  SCHEMA,
  SearchEntity,
  type CommandRow,
  type SearchRow,
} from '../entities/index.js';
import { foundCommand } from './found-command.js';
import { fieldLexeme, queryText, segmentCover, SEGMENT_PLACES } from './lexemes.js';
import { placesUpTo } from './search-rows.js';
import { parseSearchWords, type Alternative } from './search-words.js';
import { SEARCH } from './search.projector.js';
import { piecesWithHits } from './whole-texts.adapter.js';

const LIMIT_DEFAULT = 20;
/** One search takes no longer; what it did not look at until then is said. */
const SEARCH_MS_MAX = 800;
/** Connections that searches take of the pool; the projections need the others. */
const AT_ONCE_MAX = 2;
const WAIT_MS_MAX = 3_000;
/** Segments that are looked at first, and at most at once. Behind a quick look the next one is larger. */
const WINDOW = { first: 4, most: 64, grows: 4, quickMs: 50 };
/** Rows that are read to see whether their words stand one behind the other. */
const READ_AT_ONCE = 50;
/** Replicas write by their own clocks: a row that is so much older may stand behind one that is in time. */
const CLOCKS_DIFFER = `interval '1 minute'`;
const TABLE = `${SCHEMA}.search`;
/** The index of words tells all that there is to know; walking the table in order would look at rows of others. */
const BY_WORDS =
  'set local enable_seqscan = off; set local enable_indexscan = off; set local enable_indexonlyscan = off';
/** What a comparison that no index may answer is written like. */
const CANDIDATES = `
  select command_id as "commandId", place::text as place from ${TABLE}
  where words @@ $1::tsquery and place + 0 < $2 and (at >= $3) is not false and (at <= $4) is not false
  order by search.place desc limit $5`;
const QUERY_CANCELED = '57014';

export interface SearchReaderParts {
  readonly nc: NatsConnection;
  readonly postgres: Postgres;
  readonly clock: Clock;
}

interface Asked extends SearchRequest {
  readonly limit: number;
  readonly alternatives: readonly Alternative[];
  /** One lexeme of each. */
  readonly groups: readonly (readonly string[])[];
}

/** How far a search has come. */
interface Progress {
  readonly found: FoundCommand[];
  readonly places: number[];
  /** All that is not below has been looked at. */
  reached: number;
}

class TimeUsedUpError extends Error {}

/**
 * Finds commands, newest first, window by window back in time: so a word that is everywhere costs no more than one that is rare. It ends
 * when there are enough, when nothing is left, or when its time is used up, and says which.
 */
export class SearchReader {
  readonly #parts: SearchReaderParts;
  readonly #slots = new Slots(AT_ONCE_MAX);

  constructor(parts: SearchReaderParts) {
    this.#parts = parts;
  }

  /** Throws QueryRefusedError for what cannot be meant, and while it cannot be answered. */
  async search(request: SearchRequest): Promise<SearchAnswer> {
    const asked = askedIn(request);
    const { nc, postgres } = this.#parts;
    if (!postgres.isReady()) throw refused('TRY_AGAIN', 'PostgreSQL is not there yet.');
    const leave = await this.#slots.enter(AbortSignal.timeout(WAIT_MS_MAX));
    if (leave === undefined) throw refused('TRY_AGAIN', 'Others are searching at the moment.');
    try {
      const source = await postgres.ready();
      const upTo = await completeUpTo(source);
      const last = await lastStored(nc, 'ATTEMPTS', STREAMS.ATTEMPTS.subjects[0]);
      const answer = await this.#answer(source, asked, upTo.sequence);
      return { ...answer, upTo: { ...upTo, behind: Math.max(0, last - upTo.sequence) } };
    } catch (error) {
      if (error instanceof QueryRefusedError) throw error;
      await postgres.check().catch(() => {
        throw refused('TRY_AGAIN', 'PostgreSQL does not answer.');
      });
      throw error;
    } finally {
      leave();
    }
  }

  async #answer(source: DataSource, asked: Asked, sequence: number): Promise<Omit<SearchAnswer, 'upTo'>> {
    const { limit, before } = asked;
    const top = Math.min(before === undefined ? Number.MAX_SAFE_INTEGER : Number(before), placesUpTo(sequence));
    const progress: Progress = { found: [], places: [], reached: top };
    const work = new Work(this.#parts, asked, progress);
    const isCut = await source.transaction('REPEATABLE READ', (manager) => work.do(manager)).then(() => false, usedUp);
    const { found, places, reached } = progress;
    if (isCut && reached === top) throw refused('TRY_AGAIN', 'PostgreSQL did not find anything in time.');
    if (found.length > limit) return { commands: found.slice(0, limit), before: String(places[limit - 1]) };
    return { commands: found, ...(isCut && { before: String(reached), cut: true }) };
  }
}

/** One search within its transaction. */
class Work {
  readonly #nc: NatsConnection;
  readonly #clock: Clock;
  readonly #asked: Asked;
  readonly #progress: Progress;
  readonly #until: number;
  #hasRead = false;

  constructor({ nc, clock }: Pick<SearchReaderParts, 'nc' | 'clock'>, asked: Asked, progress: Progress) {
    this.#nc = nc;
    this.#clock = clock;
    this.#asked = asked;
    this.#progress = progress;
    this.#until = clock.now() + SEARCH_MS_MAX;
  }

  /** Throws TimeUsedUpError, or what PostgreSQL throws when it has no time left. */
  async do(manager: EntityManager): Promise<void> {
    const { since, until } = this.#asked;
    const [oldest, newest] = await this.#between(manager, since ?? null, until ?? null);
    if (oldest === undefined || newest === undefined) return;
    await manager.query(BY_WORDS);
    let top = segmentAbove(Math.min(this.#progress.reached, newest + 1));
    const bottom = Math.floor(oldest / SEGMENT_PLACES);
    for (let size = WINDOW.first; top > bottom;) {
      const from = Math.max(bottom, Math.floor((top - 1) / size) * size);
      const began = this.#clock.now();
      if (await this.#window(manager, segmentCover(from, top))) return;
      this.#progress.reached = Math.min(this.#progress.reached, from * SEGMENT_PLACES);
      top = from;
      if (this.#clock.now() - began < WINDOW.quickMs) size = Math.min(size * WINDOW.grows, WINDOW.most);
    }
  }

  /** The places between which all rows of that time are; none when there are none. */
  async #between(manager: EntityManager, since: string | null, until: string | null): Promise<(number | undefined)[]> {
    const ends = [
      since === null
        ? `select min(place)::text as place from ${TABLE} where $1::timestamptz is null`
        : `select place::text from ${TABLE} where at >= $1::timestamptz - ${CLOCKS_DIFFER} order by at, search.place limit 1`,
      until === null
        ? `select max(place)::text as place from ${TABLE} where $1::timestamptz is null`
        : `select place::text from ${TABLE} where at <= $1::timestamptz + ${CLOCKS_DIFFER} order by at desc, search.place desc limit 1`,
    ];
    const places: (number | undefined)[] = [];
    for (const [index, statement] of ends.entries()) {
      const [row] = await this.#inTime<{ place: string | null }>(manager, statement, [index === 0 ? since : until]);
      const place = row?.place ?? undefined;
      places.push(place === undefined ? undefined : Number(place));
    }
    return places;
  }

  /** Whether there are enough. */
  async #window(manager: EntityManager, segments: readonly string[]): Promise<boolean> {
    const { alternatives, groups, limit, since, until } = this.#asked;
    const words = queryText(alternatives, [...groups, segments]);
    for (;;) {
      const { found, reached } = this.#progress;
      const most = Math.max(limit + 1 - found.length, isSaidByIndex(alternatives) ? 0 : READ_AT_ONCE);
      const values = [words, reached, since ?? null, until ?? null, most];
      const candidates = await this.#inTime<{ commandId: CommandId; place: string }>(manager, CANDIDATES, values);
      await this.#take(
        manager,
        candidates.map(({ commandId }) => commandId),
      );
      const last = candidates.at(-1);
      if (last !== undefined) this.#progress.reached = Number(last.place);
      if (found.length > limit) return true;
      if (candidates.length < most) return false;
    }
  }

  async #take(manager: EntityManager, ids: readonly CommandId[]): Promise<void> {
    if (ids.length === 0) return;
    const where = { commandId: In([...ids]) };
    const rows = await manager.find(SearchEntity, { where, order: { place: 'DESC' } });
    const commands = await manager.find(CommandEntity, { where });
    const told = new Map(commands.map((command) => [keyOf(command), command]));
    for (const row of rows) {
      const command = await this.#found(row, told.get(keyOf(row)));
      this.#progress.reached = row.place;
      if (command === undefined) continue;
      this.#progress.found.push(command);
      this.#progress.places.push(row.place);
      if (this.#progress.found.length > this.#asked.limit) return;
    }
  }

  /** What the log holds is looked at first: what is kept beside it takes longer. */
  async #found(row: SearchRow, told: CommandRow | undefined): Promise<FoundCommand | undefined> {
    const { alternatives, words } = this.#asked;
    if (words === undefined) return foundCommand(row, told, undefined);
    const cut = told?.cut ?? [];
    const command = foundCommand(row, told, alternatives);
    if (cut.length === 0 || (command !== undefined && !mayBeDenied(alternatives))) return command;
    // One at least, so that whoever goes on behind it comes further.
    if (this.#hasRead && this.#clock.now() >= this.#until) throw new TimeUsedUpError();
    this.#hasRead = true;
    return foundCommand(row, told, alternatives, await piecesWithHits(this.#nc, cut, alternatives));
  }

  async #inTime<T>(manager: EntityManager, statement: string, values: readonly unknown[]): Promise<T[]> {
    const left = Math.ceil(this.#until - this.#clock.now());
    if (left <= 0) throw new TimeUsedUpError();
    await manager.query(`set local statement_timeout = ${left}`);
    return manager.query<T[]>(statement, [...values]);
  }
}

/** What is asked for, in the lexemes of the index. Throws QueryRefusedError for words that say nothing. */
function askedIn(request: SearchRequest): Asked {
  const { limit = LIMIT_DEFAULT, device, by, rule, exit = [], state = [], run, task } = request;
  const { words: _, ...rest } = request;
  const said = request.words?.trim() ?? '';
  const words = said === '' ? undefined : parseSearchWords(said);
  if (words !== undefined && !words.ok) throw refused('INVALID_REQUEST', 'The query is not valid.', [words.issue]);
  const one = Object.entries({ device, by, rule, run, task }).flatMap(([field, value]) =>
    value === undefined ? [] : [[fieldLexeme(field as 'device', value)]],
  );
  const several = [
    exit.map((code) => fieldLexeme('exit', code)),
    state.map((word) => fieldLexeme('state', word)),
  ].filter((lexemes) => lexemes.length > 0);
  return {
    ...rest,
    ...(words === undefined ? {} : { words: said }),
    limit,
    alternatives: words?.alternatives ?? [],
    groups: [...one, ...several],
  };
}

/** Both tables have it: a search that came first waits for the commands. */
async function completeUpTo(source: DataSource): Promise<{ sequence: number; at: string | null }> {
  const rows = await source.getRepository(CheckpointEntity).find({ where: { name: In([SEARCH, 'ATTEMPTS']) } });
  const of = (name: string): number => rows.find((row) => row.name === name)?.sequence ?? 0;
  const at = rows.find(({ name }) => name === SEARCH)?.at ?? null;
  return { sequence: Math.min(of(SEARCH), of('ATTEMPTS')), at };
}

/** No two words have to stand one behind the other. */
function isSaidByIndex(alternatives: readonly Alternative[]): boolean {
  return alternatives.every(({ wanted, unwanted }) =>
    [...wanted, ...unwanted].every(({ words }) => words.length === 1),
  );
}

/** Words that may not stand one behind the other may do so where the log has left something out. */
const mayBeDenied = (alternatives: readonly Alternative[]): boolean =>
  alternatives.some(({ unwanted }) => unwanted.some(({ words }) => words.length > 1));

const segmentAbove = (place: number): number => Math.ceil(place / SEGMENT_PLACES);

const keyOf = ({ commandId, streamSequence }: Pick<SearchRow, 'commandId' | 'streamSequence'>): string =>
  `${commandId} ${streamSequence}`;

function usedUp(error: unknown): true {
  if (error instanceof TimeUsedUpError) return true;
  if (error instanceof QueryFailedError && (error.driverError as { code?: unknown }).code === QUERY_CANCELED)
    return true;
  throw error;
}
