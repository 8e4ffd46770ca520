import { z } from 'zod';
import { CommandState } from './attempt-events.js';
import { CommandId, DeviceId, Instant, RunId, TaskId } from './ids.js';
import { PolicyDecision } from './policy.js';

/**
 * What became of a command that is found. `DENIED`: it was never given to a device. `ASKED`: a person was asked about it, and as far as the
 * log of attempts tells it has not ended.
 */
export const FoundState = z.enum([...CommandState.options, 'DENIED', 'ASKED']);
export type FoundState = z.infer<typeof FoundState>;

/** A part of one of the texts of a command, with what was looked for in it. */
export const FoundText = z.strictObject({
  /** `output`: what any other tool than EXEC_CLI answered, as JSON. */
  of: z.enum(['command', 'stdout', 'stderr', 'output', 'error']),
  /** As it was written by whoever wrote it. */
  text: z.string(),
  /** Where in `text` what was looked for stands, in UTF-16 units, the end not included; in order, none within another. */
  marks: z.array(z.strictObject({ from: z.int().min(0), to: z.int().min(0) })),
});
export type FoundText = z.infer<typeof FoundText>;

/** One command of an attempt. */
export const FoundCommand = z.strictObject({
  commandId: CommandId,
  runId: RunId,
  taskId: TaskId,
  attempt: z.int().min(1),
  step: z.int().min(0),
  index: z.int().min(0),
  /** Null of one that no device was given. */
  device: DeviceId.nullable(),
  /** Who asked for the run. */
  by: z.string().nullable(),
  /** When its last fact was recorded. */
  at: Instant,
  tool: z.string(),
  /** The beginning of its line, of its arguments as JSON where it is none. */
  line: z.string(),
  state: FoundState,
  exitCode: z.int().nullable(),
  /** Of its last judgement; null of one that nobody judged. */
  rule: z.string().nullable(),
  decision: PolicyDecision.nullable(),
  /** Null where nothing was looked for in texts. */
  found: FoundText.nullable(),
  /** More was printed or answered than is looked at, or than is kept. */
  cut: z.boolean(),
});
export type FoundCommand = z.infer<typeof FoundCommand>;

/** Behind which command an answer goes on: said again as it was given. */
export const SearchPlace = z.string().regex(/^[1-9]\d{0,15}$/u, 'must be as an answer before this one gave it');
export type SearchPlace = z.infer<typeof SearchPlace>;

/** All that is said has to hold. */
export const SearchRequest = z.strictObject({
  /** Words, all of which are there: "a phrase", OR, NOT, a beginning*. */
  words: z.string().max(1_000).optional(),
  device: DeviceId.optional(),
  /** Who asked for the run. */
  by: z.string().min(1).max(256).optional(),
  /** One of these. */
  exit: z.array(z.int()).min(1).max(20).optional(),
  /** The rule that judged it, or how its name begins, up to a dot. */
  rule: z.string().min(1).max(128).optional(),
  state: z.array(FoundState).min(1).max(FoundState.options.length).optional(),
  run: RunId.optional(),
  task: TaskId.optional(),
  since: Instant.optional(),
  until: Instant.optional(),
  before: SearchPlace.optional(),
  limit: z.int().min(1).max(200).optional(),
});
export type SearchRequest = z.infer<typeof SearchRequest>;

export const SearchAnswer = z.strictObject({
  /** Newest first. */
  commands: z.array(FoundCommand),
  /** There may be more: behind this one. */
  before: SearchPlace.optional(),
  /** The time for one search was used up: nothing is said yet about what is older than `before`. */
  cut: z.literal(true).optional(),
  /** Up to which message of ATTEMPTS it is complete, when that was recorded, and how many of them are not looked at yet. */
  upTo: z.strictObject({ sequence: z.int().min(0), at: Instant.nullable(), behind: z.int().min(0) }),
});
export type SearchAnswer = z.infer<typeof SearchAnswer>;
