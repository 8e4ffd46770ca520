import { z } from 'zod';
import { LIMITS, RunLabels } from '#proto';
import { envChoice, envInt } from '#libs/platform';

const LABEL_KEYS_MAX = 8;
const labelKeys = z
  .string()
  .default('')
  .transform((text) => text.split(',').flatMap((key) => key.trim() || []))
  .refine((keys) => keys.length <= LABEL_KEYS_MAX && keys.every((key) => RunLabels.keyType.safeParse(key).success), {
    error: `must be at most ${LABEL_KEYS_MAX} keys of labels, separated by commas, such as "team,env"`,
  });

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
    /** Keys of labels by which metrics tell ends of runs apart, separated by commas; 100 values of each, the rest is one. */
    ORRERY_METRICS_LABELS: labelKeys,
  })
  .transform((env) => ({
    tasksMax: env.ORRERY_TASKS_MAX,
    planApproval: env.ORRERY_PLAN_APPROVAL,
    approvals: env.ORRERY_APPROVALS,
    judge: env.ORRERY_JUDGE,
    metricsLabels: env.ORRERY_METRICS_LABELS,
  }));
export type OrchestratorConfig = z.infer<typeof OrchestratorConfig>;
