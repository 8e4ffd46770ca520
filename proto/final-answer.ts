import { z } from 'zod';
import { CommandCall, TaskStatus } from './constellation.js';
import { DeviceId, TaskId } from './ids.js';
import { LIMITS } from './limits.js';

/** One reply to the requester, with what it rests on. */
export const FinalAnswer = z.strictObject({
  /** Hostile text like everything that models and devices say. */
  text: z.string().max(LIMITS.answerCharsMax),
  /** `model`: the planner's model wrote it. `collected`: put together from the results, by rule. */
  by: z.enum(['model', 'collected']),
  /** Attempts whose results it rests on; the steps and commands of each are recorded under the same key. */
  evidence: z
    .array(
      z.strictObject({
        taskId: TaskId,
        attempt: z.int().min(1),
        deviceId: DeviceId.nullable(),
        command: CommandCall.optional(),
      }),
    )
    .max(LIMITS.evidenceMax),
  /** What was not done, whatever `text` says of it, and what did it in its place where something did; the first ones. */
  failures: z
    .array(
      z.strictObject({
        taskId: TaskId,
        status: TaskStatus,
        message: z.string().max(500),
        recoveredBy: TaskId.optional(),
      }),
    )
    .max(LIMITS.evidenceMax),
});
export type FinalAnswer = z.infer<typeof FinalAnswer>;
