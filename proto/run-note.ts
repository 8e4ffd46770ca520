import { z } from 'zod';
import { Actor } from './actors.js';
import { Instant, TaskId } from './ids.js';
import { LIMITS } from './limits.js';

/** What a note says: kept as it was written, made harmless where it is shown. */
export const NoteText = z.string().min(1).max(LIMITS.noteCharsMax);

/** A note of somebody who looks after a run, for those who look at it later. Nothing that the run does depends on it. */
export const RunNote = z.strictObject({
  by: Actor,
  text: NoteText,
  /** The task that it is about; the run as a whole when absent. */
  taskId: TaskId.optional(),
  annotatedAt: Instant,
});
export type RunNote = z.infer<typeof RunNote>;
