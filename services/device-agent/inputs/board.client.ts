import { createHash } from 'node:crypto';
import type { NatsConnection } from '@nats-io/transport-node';
import type { BoardTold, BoardUse } from '#libs/attempt';
import { foldRun, shownBoard } from '#libs/constellation';
import type { RunLog } from '#libs/event-log';
import { parseVerbFields, sendVerb } from '#libs/messaging';
import { token, type Clock } from '#libs/platform';
import { sentenceOf, type AttemptKey, type CommandId, type VerbId } from '#proto';
import { entriesText, entryText, missingText, writtenText } from './board-text.js';
import { LineWindow } from './line-window.js';

/** The board of a run, for the attempts of its agents. */
export interface BoardDesk {
  /** `place`: of the use within its attempt; the same again is the same write. Throws when nobody can say what came of it. */
  use(key: AttemptKey, place: CommandId, use: BoardUse): Promise<BoardTold>;
}

export const BOARD_DESK = token<BoardDesk>('BOARD_DESK');

export interface BoardParts {
  readonly nc: NatsConnection;
  readonly runs: RunLog;
  /** Of the key that signs what is written; without one nothing is. */
  readonly seed: string | undefined;
  readonly clock: Clock;
}

/** Over the bus: read from the log of the run, written by whoever serves it. */
export class BoardOfRun implements BoardDesk {
  readonly #parts: BoardParts;

  constructor(parts: BoardParts) {
    this.#parts = parts;
  }

  use(key: AttemptKey, place: CommandId, use: BoardUse): Promise<BoardTold> {
    return use.does === 'read' ? this.#read(key, use) : this.#write(key, place, use);
  }

  async #read({ runId }: AttemptKey, { name, ...wanted }: Extract<BoardUse, { does: 'read' }>): Promise<BoardTold> {
    const stored = await this.#parts.runs.load(runId);
    const run = foldRun(stored.map(({ commit }) => commit));
    const entries = run === undefined ? [] : shownBoard(run);
    if (name === undefined) return { done: true, text: entriesText(entries) };
    const entry = entries.find((one) => one.name === name);
    if (entry === undefined) return { done: false, text: missingText(name, entries) };
    const { heading, text } = entryText(entry);
    const window = new LineWindow(wanted);
    window.push(new TextEncoder().encode(text));
    const { text: shown, totalLines } = window.end();
    return { done: true, text: `${heading}, ${totalLines} lines:\n${shown}` };
  }

  async #write(
    { runId, taskId, attempt }: AttemptKey,
    place: CommandId,
    { name, value, revision }: Extract<BoardUse, { does: 'write' }>,
  ): Promise<BoardTold> {
    const { nc, seed, clock } = this.#parts;
    if (seed === undefined) return { done: false, text: 'Nothing was written: this service has no key to write with.' };
    const fields = parseVerbFields('BOARD_SET', { name, value, revision, attempt: { taskId, attempt } });
    if (!fields.ok) return { done: false, text: `Nothing was written: ${fields.issues.map(sentenceOf).join('; ')}.` };
    const now = (): number => clock.now();
    const outcome = await sendVerb(nc, {
      runId,
      verb: 'BOARD_SET',
      fields: fields.value,
      id: writeIdOf(place),
      seed,
      now,
    });
    const told = writtenText(outcome, name);
    if (told === undefined) throw new Error(`nobody knows what became of the write ${place}`);
    return told;
  }
}

/** Of the place of the write alone: sent again after a crash it is decided once. */
export const writeIdOf = (place: CommandId): VerbId =>
  `board-${createHash('sha256').update(place).digest('hex').slice(0, 40)}`;
