import { z } from 'zod';
import { Actor } from './actors.js';
import { Instant, Json, TaskId } from './ids.js';
import { LIMITS } from './limits.js';

/** What is written on the board of a run stands under a name that a condition may say: `board.free_gb`. */
export const BoardName = z
  .string()
  .regex(
    /^[A-Za-z][A-Za-z0-9_]{0,63}$/,
    'a name on the board is 1 to 64 letters, digits or _, and begins with a letter',
  );
export type BoardName = z.infer<typeof BoardName>;

/** What agents have noted for one another stands on the board, too, and is written by nobody else. */
export const BOARD_NOTES = 'notes';

/** An argument of a command that is a value of the board: `{"board": "free_gb"}`, as `{"secret": name}` is one of the device. */
export const FromBoard = z.strictObject({ board: BoardName });
export type FromBoard = z.infer<typeof FromBoard>;

/** An attempt of a task, by what is known of it within its run. */
export const BoardAttempt = z.strictObject({ taskId: TaskId, attempt: z.int().min(1) });
export type BoardAttempt = z.infer<typeof BoardAttempt>;

/** Counts the writes to a board: an entry has the number of its last one, so that no two values of a name have the same. */
const revision = z.int().min(1);

/** The revision that a write has seen; 0: nothing stood there. Without one it is written whatever stands there. */
export const BoardSeen = z
  .int()
  .min(0)
  .max(LIMITS.boardWritesMax)
  .describe('the revision that was seen; 0: nothing. Another one there refuses it');

const shape = {
  name: BoardName,
  revision,
  by: Actor,
  /** It was written by an attempt, which `by` has vouched for. */
  attempt: BoardAttempt.optional(),
  /** A program wrote it with what `by` has given it. */
  delegated: z.literal(true).optional(),
  /** A model may have written it, or who is no operator: a command that takes it is judged before it runs. */
  judge: z.literal(true).optional(),
  writtenAt: Instant,
} as const;

/** A value on the board of a run. */
export const BoardEntry = z.strictObject({ ...shape, value: Json });
export type BoardEntry = z.infer<typeof BoardEntry>;

/** Without a value it is taken off. */
export const BoardWritten = z.strictObject({ ...shape, value: Json.optional() });
export type BoardWritten = z.infer<typeof BoardWritten>;

/** The board as it is shown: what agents noted is an entry without a revision, which nobody writes. */
export const ShownEntry = z.strictObject({
  ...shape,
  revision: revision.optional(),
  by: Actor.optional(),
  writtenAt: Instant.optional(),
  /** Of the value, as JSON. */
  bytes: z.int().min(0),
  value: Json,
});
export type ShownEntry = z.infer<typeof ShownEntry>;

/** What a write is told of what stands there now; without the value where that is long. */
export const BoardFound = ShownEntry.partial({ value: true });
export type BoardFound = z.infer<typeof BoardFound>;

/** `GET /v1/runs/:id/board`, and `orrery board --json`. */
export const RunBoard = z.strictObject({
  runId: z.string(),
  /** Of the last write; 0: there was none. */
  revision: z.int().min(0),
  /** Of what stands there. */
  bytes: z.int().min(0),
  entries: z.array(ShownEntry),
});
export type RunBoard = z.infer<typeof RunBoard>;
