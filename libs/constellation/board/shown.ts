import {
  BOARD_NOTES,
  LIMITS,
  type BlackboardNote,
  type BoardEntry,
  type BoardFound,
  type Json,
  type RunBoard,
  type RunCommit,
  type RunId,
  type ShownEntry,
} from '#proto';
import { jsonBytes } from '../values/index.js';
import { type Board, NO_BOARD, restoredBoard, withWritten } from './board.js';

interface OfRun {
  readonly board: Board;
  readonly blackboard: readonly BlackboardNote[];
}

/** What agents noted as a value: the notes of each task, newest last. */
export function notesValue(blackboard: readonly BlackboardNote[]): Json {
  const byTask: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  for (const { taskId, note } of blackboard) (byTask[taskId] ??= []).push(note);
  return { ...byTask };
}

/** An entry as the answer to a write tells it: a long value is looked up. */
export function foundEntry({ value, ...entry }: BoardEntry): BoardFound {
  const bytes = jsonBytes(value);
  return { ...entry, bytes, ...(bytes <= LIMITS.boardAnsweredBytesMax && { value }) };
}

/** The board as whoever looks at it is shown it, by name: what agents noted is one of its entries, written by a model. */
export function shownBoard({ board, blackboard }: OfRun): ShownEntry[] {
  const entries = [...board.entries.values()].map((entry) => ({ ...entry, bytes: jsonBytes(entry.value) }));
  const value = notesValue(blackboard);
  const notes =
    blackboard.length === 0 ? [] : [{ name: BOARD_NOTES, judge: true as const, bytes: jsonBytes(value), value }];
  return [...entries, ...notes].toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** All of it, with how often it was written and how full it is. */
export function runBoardOf(run: OfRun & { readonly runId: RunId }): RunBoard {
  const { revision, bytes } = run.board;
  return { runId: run.runId, revision, bytes, entries: shownBoard(run) };
}

/** What a condition, and whoever asks by name, finds there. */
export function boardValues({ board, blackboard }: OfRun, names: readonly string[] | null = null): Json {
  const values = new Map<string, Json>();
  for (const { name, value } of board.entries.values()) {
    if (names === null || names.includes(name)) values.set(name, value);
  }
  if (blackboard.length > 0 && (names === null || names.includes(BOARD_NOTES))) {
    values.set(BOARD_NOTES, notesValue(blackboard));
  }
  return Object.fromEntries(values);
}

/** The board as the commits of a run have written it. */
export function boardOfCommits(commits: readonly RunCommit[]): Board {
  let board = NO_BOARD;
  for (const { events } of commits) {
    for (const { type, data } of events) {
      if (type === 'RUN_FORKED') board = restoredBoard(data.board);
      else if (type === 'BOARD_WRITTEN') board = withWritten(board, data);
    }
  }
  return board;
}
