import {
  type Actor,
  BOARD_NOTES,
  type BoardAttempt,
  type BoardEntry,
  type BoardName,
  type BoardWritten,
  type Instant,
  type Json,
  LIMITS,
} from '#proto';
import { type Answer, jsonBytes, refuse } from '../values/index.js';
import { type Board, depthOf } from './board.js';
import { foundEntry } from './shown.js';

/** What somebody wants to stand under a name; without a value nothing. */
export interface BoardWrite {
  readonly name: BoardName;
  readonly value?: Json | undefined;
  /** What he has seen there; undefined: it does not matter. */
  readonly revision?: number | undefined;
}

/** Whose a write is. */
export interface BoardWriter {
  readonly by: Actor;
  readonly attempt?: BoardAttempt | undefined;
  readonly delegated?: true | undefined;
  /** A model may have written it, or who is no operator. */
  readonly judge: boolean;
  readonly at: Instant;
}

type Rejected = Extract<Answer, { kind: 'rejected' | 'ignored' }>;

/** The fact of a write to a board as it stands, or why there is none: one clear sentence. */
export function boardWrite(
  board: Board,
  write: BoardWrite,
  { by, attempt, delegated, judge, at }: BoardWriter,
): { readonly kind: 'written'; readonly data: BoardWritten } | Rejected {
  const { name, value, revision } = write;
  if (name === BOARD_NOTES) {
    return refused(
      'INVALID_REQUEST',
      `name: under "${BOARD_NOTES}" stands what agents have noted; choose another name`,
    );
  }
  const current = board.entries.get(name);
  if (revision !== undefined && revision !== (current?.revision ?? 0)) {
    return conflict(name, revision, current);
  }
  if (value === undefined && current === undefined) return { kind: 'ignored', reason: 'NOT_ON_BOARD' };
  const full = whyFull(board, write);
  if (full !== undefined) return refused('TOO_LARGE', full);
  const data = {
    name,
    revision: board.revision + 1,
    ...(value !== undefined && { value }),
    by,
    ...(attempt !== undefined && { attempt }),
    ...(delegated === true && { delegated }),
    ...(judge && value !== undefined && { judge: true as const }),
    writtenAt: at,
  };
  return { kind: 'written', data };
}

function conflict(name: BoardName, seen: number, current: BoardEntry | undefined): Rejected {
  const now = current === undefined ? 'nothing stands there now' : `it is at revision ${current.revision} now`;
  const told = seen === 0 ? `"${name}" was to be new` : `"${name}" was seen at revision ${seen}`;
  const message = `${told}, and ${now}; look at it before you write again`;
  const reason = {
    code: 'CONFLICT',
    message: `revision: ${message}`,
    issues: [{ path: 'revision', message }],
  } as const;
  return {
    kind: 'rejected',
    reason: { ...reason, issues: [...reason.issues] },
    board: current === undefined ? null : foundEntry(current),
  };
}

/** What would be more than a board holds; undefined where it has room. */
function whyFull(board: Board, { name, value }: BoardWrite): string | undefined {
  const { boardEntriesMax, boardBytesMax, boardValueBytesMax, boardDepthMax } = LIMITS;
  if (board.revision >= LIMITS.boardWritesMax) {
    return `the board of this run was written ${board.revision} times, the most that it takes; a fork of the run does not take more`;
  }
  if (value === undefined) return undefined;
  if (depthOf(value) > boardDepthMax) return `value: it is nested deeper than ${boardDepthMax} levels`;
  const bytes = jsonBytes(value);
  if (bytes > boardValueBytesMax)
    return `value: it has ${bytes} bytes as JSON; at most ${boardValueBytesMax} are taken`;
  if (board.written + bytes > LIMITS.boardWrittenBytesMax) {
    return `value: ${board.written} bytes were written on the board of this run; at most ${LIMITS.boardWrittenBytesMax} are taken in all`;
  }
  const current = board.entries.get(name);
  if (current === undefined && board.entries.size >= boardEntriesMax) {
    return `name: ${board.entries.size} values stand on the board, the most that it holds; take one off first`;
  }
  const all = board.bytes + bytes - (current === undefined ? 0 : jsonBytes(current.value));
  if (all <= boardBytesMax) return undefined;
  return `value: with it the board would have ${all} bytes; at most ${boardBytesMax} stand there; take something off first`;
}

const refused = (code: 'TOO_LARGE' | 'INVALID_REQUEST', message: string): Rejected => refuse(code, message) as Rejected;
