import { z } from 'zod';
import { envInt } from '#libs/platform';

/** What this service reads beside `ServiceConfig`. */
export const OrchestratorConfig = z
  .object({
    /** Tasks that may run in the whole fleet at a time; without it the devices' own limits are all. */
    ORRERY_TASKS_MAX: envInt({ min: 1, max: 1_000_000 }).optional(),
  })
  .transform((env) => ({ tasksMax: env.ORRERY_TASKS_MAX }));
export type OrchestratorConfig = z.infer<typeof OrchestratorConfig>;
