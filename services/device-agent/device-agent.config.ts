import { z } from 'zod';
import { envInt } from '#libs/platform';

const ATTEMPTS_MAX_DEFAULT = 1_000;

export const DeviceAgentConfig = z
  .object({
    /** Attempts that this replica carries out at once; more are left to the other replicas. */
    ORRERY_ATTEMPTS_MAX: envInt({ min: 1, max: 100_000 }).default(ATTEMPTS_MAX_DEFAULT),
  })
  .transform((env) => ({ attemptsMax: env.ORRERY_ATTEMPTS_MAX }));
export type DeviceAgentConfig = z.infer<typeof DeviceAgentConfig>;
