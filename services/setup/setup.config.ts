import { z } from 'zod';
import { envUrl, parseConfig, type Environment } from '#libs/platform';
import { parseDevices } from './devices.js';

const Env = z.object({
  ORRERY_SECRETS_DIR: z.string().default('/secrets'),
  ORRERY_NATS_URL: envUrl('nats:', 'tls:').default('nats://127.0.0.1:4222'),
  ORRERY_NATS_MONITOR_URL: envUrl('http:', 'https:').default('http://127.0.0.1:8222'),
  ORRERY_SETUP_DEVICES: z
    .string()
    .default('')
    .transform((text, context) => {
      const devices = parseDevices(text);
      if (devices !== undefined) return devices;
      context.addIssue('must be device ids with tags, such as "web-1:web,eu db-1:db"');
      return z.NEVER;
    }),
});

/** Throws ConfigError. */
export function readSetupConfig(environment: Environment) {
  const env = parseConfig(Env, environment);
  return {
    secretsDir: env.ORRERY_SECRETS_DIR,
    natsUrl: env.ORRERY_NATS_URL,
    natsMonitorUrl: env.ORRERY_NATS_MONITOR_URL,
    devices: env.ORRERY_SETUP_DEVICES,
  };
}
