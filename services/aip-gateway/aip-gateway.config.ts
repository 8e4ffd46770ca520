import { z } from 'zod';
import { envInt } from '#libs/platform';

/** What this service reads beside `ServiceConfig`. */
export const AipGatewayConfig = z
  .object({
    ORRERY_AIP_PORT: envInt({ min: 0, max: 65_535 }).default(5_000),
    /** Comma list. A device sends no Origin; a page in a browser always does. */
    ORRERY_AIP_ORIGINS: z.string().default(''),
    ORRERY_AIP_CONNECTIONS_MAX: envInt({ min: 1, max: 100_000 }).default(10_000),
  })
  .transform((env) => ({
    port: env.ORRERY_AIP_PORT,
    origins: env.ORRERY_AIP_ORIGINS.split(',').flatMap((origin) => origin.trim() || []),
    connectionsMax: env.ORRERY_AIP_CONNECTIONS_MAX,
  }));
export type AipGatewayConfig = z.infer<typeof AipGatewayConfig>;
