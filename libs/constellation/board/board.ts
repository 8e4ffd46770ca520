import type { BoardEntry, BoardName, BoardWritten, Json, RunEventData } from '#proto';
import { jsonBytes } from '../values/index.js';

/** What tasks, agents, the planner and people of a run read and write. */
export interface Board {
  readonly entries: ReadonlyMap<BoardName, BoardEntry>;
  /** How often it was written: the revision of the last write. */
  readonly revision: number;
  /** Of the values that stand there, as JSON. */
  readonly bytes: number;
  /** Of all that was ever written there. */
  readonly written: number;
}

export const NO_BOARD: Board = { entries: new Map(), revision: 0, bytes: 0, written: 0 };

/** Folds one write: what it says is so. */
export function withWritten(board: Board, { value, ...written }: BoardWritten): Board {
  const entries = new Map(board.entries);
  const before = entries.get(written.name);
  const taken = before === undefined ? 0 : jsonBytes(before.value);
  const added = value === undefined ? 0 : jsonBytes(value);
  if (value === undefined) entries.delete(written.name);
  else entries.set(written.name, { ...written, value });
  return {
    entries,
    revision: written.revision,
    bytes: board.bytes - taken + added,
    written: board.written + added,
  };
}

/** A board as a fork carries it. */
type CarriedBoard = NonNullable<RunEventData<'RUN_FORKED'>['board']>;

export function carriedBoard({ revision, written, entries }: Board): CarriedBoard {
  return { revision, written, entries: [...entries.values()] };
}

export function restoredBoard(carried: CarriedBoard | undefined): Board {
  if (carried === undefined) return NO_BOARD;
  const { revision, written, entries } = carried;
  return {
    entries: new Map(entries.map((entry) => [entry.name, entry])),
    revision,
    bytes: entries.reduce((sum, { value }) => sum + jsonBytes(value), 0),
    written,
  };
}

/** How deep a value is nested; a text or a number not at all. */
export function depthOf(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0;
  let deepest = 0;
  for (const item of Array.isArray(value) ? value : Object.values(value)) deepest = Math.max(deepest, depthOf(item));
  return deepest + 1;
}
