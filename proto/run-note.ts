import { z } from 'zod';
import { Actor } from './actors.js';
import { Usage } from './budget.js';
import { Instant, Sha256, TaskId } from './ids.js';
import { LIMITS } from './limits.js';
import { Evaluation } from './planner-replies.js';

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

/** `late_result`: what came after an attempt had ended. `evaluation`: what the run was found to be worth. `note`: what somebody wants those to know who look at it. */
export const RunAnnotation = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('late_result'),
    taskId: TaskId,
    attempt: z.int().min(0),
    text: z.string(),
    attemptHash: Sha256,
    annotatedAt: Instant,
  }),
  z.strictObject({
    kind: z.literal('evaluation'),
    evaluation: Evaluation,
    used: Usage,
    planHash: Sha256,
    annotatedAt: Instant,
  }),
  z.strictObject({ kind: z.literal('note'), ...RunNote.shape }),
]);
