import { z } from 'zod';
import { LIMITS } from '#proto';
import { envInt } from '#libs/platform';

/** Their times are whole seconds, and one is renewed when a third is left. */
const CREDENTIAL_MS_MIN = 3_000;

export const RegistryConfig = z
  .object({
    /** How long a device that vanished is suspect before it is lost; 0: at once. */
    ORRERY_DEVICE_GRACE_MS: envInt({ min: 0, max: LIMITS.timeoutMsMax }).default(LIMITS.deviceGraceMs),
    /** How long a credential of a device is good for. */
    ORRERY_CREDENTIAL_MS: envInt({ min: CREDENTIAL_MS_MIN, max: LIMITS.timeoutMsMax }).default(LIMITS.credentialMs),
    /** File of the public keys that were made with the installation, and whom they stand for. */
    ORRERY_ACTORS_FILE: z.string().min(1).optional(),
  })
  .transform((env) => ({
    graceMs: env.ORRERY_DEVICE_GRACE_MS,
    credentialMs: env.ORRERY_CREDENTIAL_MS,
    actorsFile: env.ORRERY_ACTORS_FILE,
  }));
export type RegistryConfig = z.infer<typeof RegistryConfig>;
