import { z } from 'zod';
import { LIMITS } from '#proto';
import { envChoice, envInt } from '#libs/platform';

/** What this service reads beside `ServiceConfig`. */
export const OrchestratorConfig = z
  .object({
    /** Tasks that may run in the whole fleet at a time; without it the devices' own limits are all. */
    ORRERY_TASKS_MAX: envInt({ min: 1, max: 1_000_000 }).optional(),
    /** `required`: every plan that is made for a goal waits for a person, whatever its request says. */
    ORRERY_PLAN_APPROVAL: envChoice(['required', 'as-requested']).default('as-requested'),
    /** How many persons approve what is asked about, and every plan that waits, whatever a request says less. */
    ORRERY_APPROVALS: envInt({ min: 1, max: LIMITS.approvalsMax }).default(1),
    /** `all`: every exact command is judged before it runs, whoever wrote it and whatever its request says. */
    ORRERY_JUDGE: envChoice(['models', 'all']).default('models'),
  })
  .transform((env) => ({
    tasksMax: env.ORRERY_TASKS_MAX,
    planApproval: env.ORRERY_PLAN_APPROVAL,
    approvals: env.ORRERY_APPROVALS,
    judge: env.ORRERY_JUDGE,
  }));
export type OrchestratorConfig = z.infer<typeof OrchestratorConfig>;
