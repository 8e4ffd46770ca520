import { z } from 'zod';
import { TaskId } from './ids.js';
import { LIMITS } from './limits.js';

/** Why no device takes ready tasks: each reason once, with all tasks that it is true of. */
export const WaitReasons = z
  .array(
    z.strictObject({
      tasks: z.array(TaskId).min(1).max(LIMITS.tasksMax),
      text: z.string().min(1).max(LIMITS.waitReasonCharsMax),
    }),
  )
  .max(LIMITS.waitReasonsMax);
