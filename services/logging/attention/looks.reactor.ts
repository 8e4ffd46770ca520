import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConsumerInfo } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { In, LessThan, Not, type DataSource, type EntityManager, type FindOperator } from 'typeorm';
import { allDurables, DeadLetter, instantOf, LIMITS, parseJson, STREAMS, subjects, type UnseenSource } from '#proto';
import { attentionOfLetter, attentionOfSystem } from '#libs/attention';
import { durableProblem, hearingTime, managerOf, storedPage, type Room } from '#libs/messaging';
import { Loop, type Clock, type Postgres } from '#libs/platform';
import { AttentionEntity, attentionRow, type AttentionRow } from '../entities/index.js';
import { applyOnce, checkpointOf, upsertRows } from '../projection/index.js';
import { storeRooms, type StoreRooms } from '../stores/index.js';

/** Between two looks that nobody asked for. */
const LOOK_MS = 15_000;
/** Who asks within this of a look is told of that one. */
const FRESH_MS = 1_000;
/** A source that does not answer in this time is not seen. */
const LOOK_MS_MAX = 3_000;
const { DLQ } = STREAMS;
/** Whoever writes what stands in no log holds this lock of the database (any fixed number will do): two replicas that see the same are one. */
const LOOKS_LOCK = 0x0087;

const PLACES: Readonly<Record<string, string>> = {
  nats_disk: 'the disk of nats-server',
  nats_streams: 'what nats-server may store',
  postgres_disk: 'the disk of PostgreSQL',
} satisfies Record<keyof StoreRooms['rooms'], string>;
const PERCENT = 100;
const TIGHT = `is used to ${LIMITS.storeTightFrom * PERCENT} % or more: when it is full nothing new is taken`;

interface LooksPorts {
  readonly nc: NatsConnection;
  readonly postgres: Pick<Postgres, 'ready' | 'isReady'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Something that is wrong with the system itself, by the name of what it is wrong with. */
interface Wrong {
  readonly name: string;
  readonly problem: string;
}

/** What one look has found of a kind. */
interface Looked {
  readonly kind: 'drift' | 'disk';
  readonly wrong: readonly Wrong[];
  /** Names of what is not wrong, or not any more. */
  readonly over: FindOperator<string>;
}

/**
 * What needs somebody and stands in no log that says when it is over: dead letters, which are deleted, consumers that are not as they were
 * declared, and disks that fill. Looks now and then, and when somebody asks; a source that cannot be read is named.
 */
export class AttentionLooks extends Loop {
  readonly #ports: LooksPorts;
  #looked: { readonly at: number; readonly unseen: Promise<readonly UnseenSource[]> } | undefined;

  constructor(ports: LooksPorts) {
    super();
    this.#ports = ports;
  }

  /** Resolves when everything was looked at within the last second: with what could not be seen. Never rejects. */
  fresh(): Promise<readonly UnseenSource[]> {
    const now = performance.now();
    if (this.#looked === undefined || now - this.#looked.at > FRESH_MS) {
      this.#looked = { at: now, unseen: this.#look() };
    }
    return this.#looked.unseen;
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.fresh();
      await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async #look(): Promise<readonly UnseenSource[]> {
    if (!this.#ports.postgres.isReady()) return [];
    const sources = [
      ['dead letters', (source: DataSource) => this.#letters(source)],
      ['consumers', (source: DataSource) => this.#consumers(source)],
      ['disks', (source: DataSource) => this.#stores(source)],
    ] as const;
    const looked = await Promise.all(sources.map(([name, look]) => this.#seen(name, look)));
    return looked.flatMap((unseen) => unseen ?? []);
  }

  async #seen(name: string, look: (source: DataSource) => Promise<void>): Promise<UnseenSource | undefined> {
    const { postgres, logger } = this.#ports;
    try {
      await inTime(postgres.ready().then(look));
      return undefined;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      logger.debug({ source: name, reason }, 'attention: cannot look');
      return { source: name, reason: reason.slice(0, 1_000) };
    }
  }

  /** Those that are gone leave; those that came behind the last one that is known come in. */
  async #letters(source: DataSource): Promise<void> {
    const jsm = await managerOf(this.#ports.nc);
    const { state } = await jsm.streams.info(DLQ.name, { deleted_details: true });
    const kind = 'dead-letter' as const;
    await source.manager.delete(AttentionEntity, { kind, letter: LessThan(state.first_seq) });
    const deleted = (state as { deleted?: number[] | null }).deleted ?? [];
    if (deleted.length > 0) await source.manager.delete(AttentionEntity, { kind, letter: In(deleted) });
    for (let from = await checkpointOf(source, DLQ.name); from < state.last_seq;) {
      const rows = await this.#lettersBehind(from);
      const to = rows.at(-1)?.letter ?? state.last_seq;
      // The newest of a message: one statement writes no row twice.
      const entries = [...new Map(rows.map((row) => [row.id, row])).values()];
      const write = (manager: EntityManager): Promise<void> => upsertRows(manager, AttentionEntity, entries);
      // Another replica has them.
      if (!(await applyOnce(source, { name: DLQ.name, from, to }, write))) return;
      from = to;
    }
  }

  async #lettersBehind(after: number): Promise<AttentionRow[]> {
    const page = await storedPage(this.#ports.nc, { stream: DLQ.name, filter: subjects.anyDlq, after });
    if (page.failure !== undefined && page.messages.length === 0) throw page.failure;
    return page.messages.map(({ seq, subject, data, time }) => {
      const parsed = DeadLetter.safeParse(parseJson(data));
      const reason = 'it is no dead letter itself';
      const unreadable = { service: subject.split('.').at(-1) ?? '', stream: null, sequence: null, subject, reason };
      const letter = parsed.success ? parsed.data : { ...unreadable, at: time.toISOString() };
      return attentionRow(attentionOfLetter(letter, seq), { letter: seq });
    });
  }

  async #consumers(source: DataSource): Promise<void> {
    const jsm = await managerOf(this.#ports.nc);
    const wrong: Wrong[] = [];
    for (const [stream, specs] of Map.groupBy(allDurables(), (spec) => spec.stream)) {
      const found = new Map<string, ConsumerInfo>();
      for await (const info of jsm.consumers.list(stream)) found.set(info.name, info);
      for (const spec of specs) {
        const problem = durableProblem(spec, found.get(spec.durable));
        if (problem !== undefined) wrong.push({ name: spec.durable, problem });
      }
    }
    await this.#keep(source, { kind: 'drift', wrong, over: Not(In(wrong.map(({ name }) => name))) });
  }

  /** Another replica may see other disks: what is not seen from here is left as it is. */
  async #stores(source: DataSource): Promise<void> {
    const { rooms, bus } = await storeRooms(this.#ports.nc, this.#ports.postgres);
    const why = bus?.fault?.why;
    const seen = [
      ...(bus === undefined ? [] : [{ name: 'writing', problem: why && `nothing new is taken, because ${why}` }]),
      ...Object.entries(rooms).flatMap(([name, room]) =>
        room === undefined ? [] : [{ name, problem: isTight(room) ? `${PLACES[name]} ${TIGHT}` : undefined }],
      ),
    ];
    const wrong = seen.flatMap(({ name, problem }) => (problem === undefined ? [] : [{ name, problem }]));
    const well = seen.filter(({ problem }) => problem === undefined).map(({ name }) => name);
    await this.#keep(source, { kind: 'disk', wrong, over: In(well) });
  }

  /** As long as it lasts it is one entry; what comes again is another one. */
  #keep(source: DataSource, { kind, wrong, over }: Looked): Promise<void> {
    const since = instantOf(this.#ports.clock.now());
    return source.transaction(async (manager) => {
      await manager.query('select pg_advisory_xact_lock($1)', [LOOKS_LOCK]);
      await manager.delete(AttentionEntity, { kind, name: over });
      const known = new Set((await manager.findBy(AttentionEntity, { kind })).map(({ name }) => name));
      const rows = wrong
        .filter(({ name }) => !known.has(name))
        .map((one) => attentionRow(attentionOfSystem(kind, { ...one, since }), { name: one.name }));
      await upsertRows(manager, AttentionEntity, rows);
    });
  }
}

const isTight = ({ usedBytes, limitBytes }: Room): boolean =>
  limitBytes > 0 && usedBytes / limitBytes >= LIMITS.storeTightFrom;

async function inTime(work: Promise<void>): Promise<void> {
  const time = hearingTime(LOOK_MS_MAX);
  const late = once(time.over, 'abort').then(() => {
    throw new Error(`no answer within ${LOOK_MS_MAX / 1_000} s`);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    time.end();
  }
}
