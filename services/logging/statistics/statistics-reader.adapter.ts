import type { NatsConnection } from '@nats-io/transport-node';
import { In, type EntityManager } from 'typeorm';
import { FiguresTally, type MeasuredRun, type TalliedRun } from '#libs/constellation';
import { lastStored, QueryRefusedError, refused } from '#libs/messaging';
import type { Postgres } from '#libs/platform';
import { Slots } from '#libs/slots';
import { meantName, partsOfLabel, STREAMS, type FiguresAnswer, type FiguresRequest } from '#proto';
import { CheckpointEntity, SCHEMA } from '../entities/index.js';
import { FIGURES } from './statistics.projector.js';

/** Runs whose numbers are in memory at once. */
const RUNS_MAX = 100_000;
const RUNS_PER_PAGE = 2_000;
/** Values of a label that have figures of their own. */
const GROUPS_MAX = 50;
/** Connections of the pool, and memory, that figures take: the projections need the others. */
const AT_ONCE_MAX = 1;
const WAIT_MS_MAX = 10_000;
/** One statement takes no longer. */
const STATEMENT_MS_MAX = 10_000;
/** Labels that are looked through for the one that was meant. */
const MEANT_OF_MAX = 1_000;

const RUNS = `${SCHEMA}.run`;
const LABELS = `${SCHEMA}.run_label`;

export interface StatisticsReaderParts {
  readonly nc: NatsConnection;
  readonly postgres: Postgres;
  readonly runsMax?: number;
}

/** Which rows match, and what is put into the places. */
interface Wanted {
  readonly where: string;
  readonly values: readonly unknown[];
}

interface RunRead {
  readonly ended: boolean;
  readonly broken: boolean;
  readonly place: string;
  readonly figures: MeasuredRun | null;
  readonly value: string | null;
}

interface Checkpoints {
  readonly runs: number;
  readonly figures: number;
  readonly at: string | null;
}

interface GroupRead {
  readonly value: string | null;
  readonly runs: number;
}

/** Adds up the figures of all runs that match, page by page out of one snapshot: so what is in them is what was stored at one moment. */
export class StatisticsReader {
  readonly #parts: StatisticsReaderParts;
  readonly #slots = new Slots(AT_ONCE_MAX);

  constructor(parts: StatisticsReaderParts) {
    this.#parts = parts;
  }

  /** Throws QueryRefusedError for more runs than can be added up, and while it cannot be answered. */
  async figures(request: FiguresRequest): Promise<FiguresAnswer> {
    const { nc, postgres, runsMax = RUNS_MAX } = this.#parts;
    if (!postgres.isReady()) throw refused('TRY_AGAIN', 'PostgreSQL is not there yet.');
    const leave = await this.#slots.enter(AbortSignal.timeout(WAIT_MS_MAX));
    if (leave === undefined) throw refused('TRY_AGAIN', 'Others are adding up figures at the moment.');
    try {
      const source = await postgres.ready();
      const read = await source.transaction('REPEATABLE READ', (manager) => figuresIn(manager, request, runsMax));
      const last = await lastStored(nc, 'RUNS', STREAMS.RUNS.subjects[0]);
      const { checkpoints, ...answer } = read;
      const sequence = Math.min(checkpoints.runs, checkpoints.figures);
      return { ...answer, upTo: { sequence, at: checkpoints.at, behind: Math.max(0, last - sequence) } };
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
}

type Read = Omit<FiguresAnswer, 'upTo'> & { readonly checkpoints: Checkpoints };

async function figuresIn(manager: EntityManager, request: FiguresRequest, runsMax: number): Promise<Read> {
  await manager.query(`set local statement_timeout = ${STATEMENT_MS_MAX}`);
  const { by } = request;
  const wanted = wantedBy(request);
  await mustBeFew(manager, wanted, runsMax);
  const checkpoints = await checkpointsIn(manager);
  const found = by === undefined ? [] : await groupsIn(manager, wanted, by);
  const all = new FiguresTally();
  const groups = new Map(found.slice(0, GROUPS_MAX).map(({ value }) => [value, new FiguresTally()]));
  for await (const page of pagesOf(manager, wanted, by)) {
    for (const row of page) {
      const run = talliedRun(row, checkpoints);
      all.add(run);
      groups.get(row.value)?.add(run);
    }
  }
  return {
    ...all.result(),
    by: by ?? null,
    groups: [...groups].map(([value, tally]) => ({ value, ...tally.result() })),
    groupsLeft: found.length - groups.size,
    unknownLabels: await unknownIn(manager, request),
    checkpoints,
  };
}

function wantedBy({ label = [], since, until, requester, status }: FiguresRequest): Wanted {
  const values: unknown[] = [];
  const place = (value: unknown): string => `$${values.push(value)}`;
  const conditions = ['true'];
  if (since !== undefined) conditions.push(`run.requested_at >= ${place(since)}`);
  if (until !== undefined) conditions.push(`run.requested_at <= ${place(until)}`);
  if (requester !== undefined) conditions.push(`run.requested_by = ${place(requester)}`);
  if (status !== undefined) conditions.push(`run.status = any(${place(status)})`);
  for (const selector of label) {
    const { key, value } = partsOfLabel(selector);
    const has = value === undefined ? '' : ` and has.value = ${place(value)}`;
    conditions.push(`run.run_id in (select has.run_id from ${LABELS} has where has.key = ${place(key)}${has})`);
  }
  return { where: conditions.join(' and '), values };
}

/** Throws QueryRefusedError: a mean over a part of them would be a guess. */
async function mustBeFew(manager: EntityManager, { where, values }: Wanted, runsMax: number): Promise<void> {
  const [found] = await manager.query<{ runs: number }[]>(
    `select count(*)::int as runs from (select 1 from ${RUNS} run where ${where} limit ${runsMax + 1}) matching`,
    [...values],
  );
  if ((found?.runs ?? 0) <= runsMax) return;
  throw refused('TOO_LARGE', `More than ${runsMax} runs match; figures are of at most so many.`, [
    { path: 'since', message: 'must be later, or say a label, a requester or until' },
  ]);
}

async function checkpointsIn(manager: EntityManager): Promise<Checkpoints> {
  const rows = await manager.find(CheckpointEntity, { where: { name: In([FIGURES, 'RUNS']) } });
  const of = (name: string): number => rows.find((row) => row.name === name)?.sequence ?? 0;
  return { runs: of('RUNS'), figures: of(FIGURES), at: rows.find(({ name }) => name === FIGURES)?.at ?? null };
}

/** Every value of the label, the one with most runs first. */
function groupsIn(manager: EntityManager, { where, values }: Wanted, by: string): Promise<GroupRead[]> {
  return manager.query<GroupRead[]>(
    `select own.value as value, count(*)::int as runs from ${RUNS} run
     left join ${LABELS} own on own.run_id = run.run_id and own.key = $${values.length + 1}
     where ${where} group by own.value order by runs desc, own.value nulls last`,
    [...values, by],
  );
}

async function* pagesOf(manager: EntityManager, { where, values }: Wanted, by?: string): AsyncGenerator<RunRead[]> {
  await manager.query(
    `declare matching no scroll cursor for
     select run.ended_at is not null as ended, broken.run_id is not null as broken,
       run.stream_sequence::text as place, measured.figures as figures, own.value as value
     from ${RUNS} run
     left join ${SCHEMA}.run_figures measured on measured.run_id = run.run_id
     left join ${SCHEMA}.broken_run broken on broken.run_id = run.run_id
     left join ${LABELS} own on own.run_id = run.run_id and own.key = $${values.length + 1}
     where ${where}`,
    [...values, by ?? ''],
  );
  for (;;) {
    const page = await manager.query<RunRead[]>(`fetch ${RUNS_PER_PAGE} from matching`);
    if (page.length === 0) break;
    yield page;
  }
  await manager.query('close matching');
}

function talliedRun({ ended, broken, place, figures }: RunRead, checkpoints: Checkpoints): TalliedRun {
  if (broken) return 'unreadable';
  if (!ended) return 'open';
  if (Number(place) > checkpoints.figures) return 'behind';
  if (figures !== null) return figures;
  // Figures that are further than the runs may know of an end that was taken back.
  return checkpoints.figures > checkpoints.runs ? 'behind' : 'unreadable';
}

/** Labels that no run has at all, whatever else was asked for. */
async function unknownIn(
  manager: EntityManager,
  { label = [], by }: FiguresRequest,
): Promise<FiguresAnswer['unknownLabels']> {
  const unknown: FiguresAnswer['unknownLabels'] = [];
  for (const selector of new Set(by === undefined ? label : [...label, by])) {
    const { key, value } = partsOfLabel(selector);
    if (await hasLabel(manager, key, value)) continue;
    const meant = await meantLabel(manager, key, value);
    unknown.push({ label: selector, ...(meant !== undefined && { meant }) });
  }
  return unknown;
}

async function meantLabel(manager: EntityManager, key: string, value?: string): Promise<string | undefined> {
  const isKey = value !== undefined && (await hasLabel(manager, key));
  const rows = isKey
    ? `select distinct value as word from ${LABELS} where key = $1 limit ${MEANT_OF_MAX}`
    : `select distinct key as word from ${LABELS} limit ${MEANT_OF_MAX}`;
  const words = await manager.query<{ word: string }[]>(rows, isKey ? [key] : []);
  const meant = meantName(
    isKey ? value : key,
    words.map(({ word }) => word),
  );
  if (meant === undefined || isKey) return meant === undefined ? undefined : `${key}=${meant}`;
  return value !== undefined && (await hasLabel(manager, meant, value)) ? `${meant}=${value}` : meant;
}

async function hasLabel(manager: EntityManager, key: string, value?: string): Promise<boolean> {
  const and = value === undefined ? '' : ' and value = $2';
  const found = await manager.query<unknown[]>(`select 1 from ${LABELS} where key = $1${and} limit 1`, [
    key,
    ...(value === undefined ? [] : [value]),
  ]);
  return found.length > 0;
}
