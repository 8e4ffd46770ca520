import { In, type DataSource, type EntityManager } from 'typeorm';
import type { CommandId } from '#proto';
import type { StreamEntry } from '#libs/event-log';
import { JudgementEntity, SCHEMA, SEARCH_WORDS_INDEX, SearchEntity, type JudgementRow } from '../entities/index.js';
import { Requesters } from '../feed/index.js';
import {
  Burials,
  parseAttempt,
  upsertRows,
  type BurialParts,
  type PreparedBatch,
  type Projection,
} from '../projection/index.js';
import type { NatsConnection } from '@nats-io/transport-node';
import { AttemptDevices } from './attempt-devices.adapter.js';
import { searchRow, toldCommands, toldWords, type AboutCommand, type ToldCommand } from './search-rows.js';
import { lookThrough } from './whole-texts.adapter.js';

/** The name of its checkpoint. */
export const SEARCH = 'SEARCH';

/** Entries wait in a list until it is so long, in kB: each search looks at the whole of it. */
const PENDING_KB = 512;
const MAKE_INDEX = `create index if not exists ${SEARCH_WORDS_INDEX} on ${SCHEMA}.search using gin (words)
  with (gin_pending_list_limit = ${PENDING_KB})`;

export interface SearchProjectionParts extends BurialParts {
  readonly nc: NatsConnection;
}

/**
 * ATTEMPTS -> tables search and judgement. It has a checkpoint of its own beside that of the commands: what it costs holds up no report, and
 * an installation that had commands before it had a search reads them from the beginning by itself.
 */
export class SearchProjection implements Projection {
  readonly stream = 'ATTEMPTS';
  readonly name = SEARCH;
  readonly #requesters: Requesters;
  readonly #devices: AttemptDevices;
  readonly #buried: Burials;
  readonly #nc: NatsConnection;

  constructor(parts: SearchProjectionParts) {
    this.#nc = parts.nc;
    this.#requesters = new Requesters(parts.nc);
    this.#devices = new AttemptDevices(parts.nc);
    this.#buried = new Burials(this.stream, parts);
  }

  async begin(source: DataSource): Promise<void> {
    await source.query(MAKE_INDEX);
    await this.#buried.begin(source);
  }

  async prepare(entries: readonly StreamEntry[], refused?: string): Promise<PreparedBatch> {
    const read = entries.flatMap((entry) => {
      const commit = parseAttempt(entry);
      // What is no commit is buried where commands are projected.
      return typeof commit === 'string' ? [] : [{ commit, streamSequence: entry.sequence }];
    });
    const { judgements, commands } = toldCommands(refused === undefined ? read : []);
    const about = await this.#about(commands);
    return {
      at: read.at(-1)?.commit.at,
      write: async (manager) => {
        await upsertRows(manager, JudgementEntity, judgements);
        const judged = await judgementsOf(manager, commands);
        const rows = about.map(({ told, ...known }) =>
          searchRow(told, { ...known, judgements: judged.get(told.commandId) ?? [] }),
        );
        await upsertRows(manager, SearchEntity, rows);
        if (refused !== undefined) for (const entry of entries) await this.#buried.add(manager, entry, refused);
      },
      applied: () => undefined,
    };
  }

  /** What RUNS says of them, which is there before an attempt begins; and what they printed that is kept beside the log. */
  async #about(commands: readonly ToldCommand[]) {
    const about: (Omit<AboutCommand, 'judgements'> & { readonly told: ToldCommand })[] = [];
    for (const told of commands) {
      const by = (await this.#requesters.ofRun(told.runId))?.id ?? null;
      const device = told.device ?? (await this.#devices.of(told));
      const words = toldWords(told);
      const isCut = !(await lookThrough(this.#nc, told.cutParts, ({ text }) => words.add(text)));
      about.push({ told, by, device, words, isCut });
    }
    return about;
  }
}

async function judgementsOf(
  manager: EntityManager,
  commands: readonly ToldCommand[],
): Promise<ReadonlyMap<CommandId, JudgementRow[]>> {
  if (commands.length === 0) return new Map();
  const commandId = In(commands.map((told) => told.commandId));
  const rows = await manager.find(JudgementEntity, { where: { commandId }, order: { place: 'ASC' } });
  return Map.groupBy(rows, (row) => row.commandId);
}
