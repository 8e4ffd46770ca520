import { z } from 'zod';
import { envFlag } from '#libs/platform';

export const LoggingConfig = z
  .object({
    /** Empties the projection at start and makes it again from the streams. */
    ORRERY_LOGGING_REBUILD: envFlag.default(false),
  })
  .transform((env) => ({ rebuild: env.ORRERY_LOGGING_REBUILD }));
export type LoggingConfig = z.infer<typeof LoggingConfig>;
