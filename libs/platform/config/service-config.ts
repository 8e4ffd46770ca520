import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { envChoice, envFlag, envInt, envUrl } from './config.js';

/** One name per process, however often its configuration is read. */
const PROCESS_INSTANCE = randomBytes(6).toString('hex');

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** What every service reads from its environment. */
export const ServiceConfig = z
  .object({
    /** Where nats-server is. */
    ORRERY_NATS_URL: envUrl('nats:', 'tls:').default('nats://127.0.0.1:4222'),
    /** File with the nkey seed of the user of the bus that this service is; mode 0600. */
    ORRERY_NATS_SEED_FILE: z.string().optional(),
    /** Where nats-server says how it is set: a log that is not fsynced is refused. */
    ORRERY_NATS_MONITOR_URL: envUrl('http:', 'https:').optional(),
    /** Name of this replica, another one for each; made up when absent. */
    ORRERY_INSTANCE: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,64}$/u, 'must be 1 to 64 letters, digits, "_" or "-"')
      .default(PROCESS_INSTANCE),
    /** Address that its ports listen at. */
    ORRERY_BIND: z.string().default('127.0.0.1'),
    /** Port of /healthz, /readyz and /metrics; 0 is any free one. */
    ORRERY_HEALTH_PORT: envInt({ min: 0, max: 65_535 }).default(0),
    /** How much it writes to its log. */
    ORRERY_LOG_LEVEL: envChoice(LOG_LEVELS).default('info'),
    /** Starts although nats-server may lose what it has acknowledged: for trying something out. */
    ORRERY_ALLOW_UNSAFE_LOG: envFlag.default(false),
    /** Holds the SHA-256 of the token for metrics in hex, never the token. */
    ORRERY_METRICS_TOKEN_FILE: z.string().optional(),
  })
  .transform((env) => ({
    nats: {
      url: env.ORRERY_NATS_URL,
      seedFile: env.ORRERY_NATS_SEED_FILE,
      monitorUrl: env.ORRERY_NATS_MONITOR_URL,
      allowUnsafeLog: env.ORRERY_ALLOW_UNSAFE_LOG,
    },
    instance: env.ORRERY_INSTANCE,
    bind: env.ORRERY_BIND,
    healthPort: env.ORRERY_HEALTH_PORT,
    logLevel: env.ORRERY_LOG_LEVEL,
    metricsTokenFile: env.ORRERY_METRICS_TOKEN_FILE,
  }));
export type ServiceConfig = z.infer<typeof ServiceConfig>;
