import { z } from 'zod';
import { LIMITS } from '#proto';
import { envInt } from '#libs/platform';

export const RegistryConfig = z
  .object({
    /** How long a device that vanished is suspect before it is lost; 0: at once. */
    ORRERY_DEVICE_GRACE_MS: envInt({ min: 0, max: LIMITS.timeoutMsMax }).default(LIMITS.deviceGraceMs),
  })
  .transform((env) => ({ graceMs: env.ORRERY_DEVICE_GRACE_MS }));
export type RegistryConfig = z.infer<typeof RegistryConfig>;
