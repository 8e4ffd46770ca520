import { z } from 'zod';
import { envUrl, parseConfig, type Environment } from '#libs/platform';
import { parseDevices } from './devices.js';

/** What the steps of setup read. */
export const SetupEnv = z.object({
  /** Directory of the secrets of all owners. */
  ORRERY_SECRETS_DIR: z.string().default('/secrets'),
  /** Where nats-server is. */
  ORRERY_NATS_URL: envUrl('nats:', 'tls:').default('nats://127.0.0.1:4222'),
  /** Where nats-server says how it is set. */
  ORRERY_NATS_MONITOR_URL: envUrl('http:', 'https:').default('http://127.0.0.1:8222'),
  /** Devices to enrol, with their tags, and the kind of their agent where it is not the usual one: `web-1:web,eu desk-1:desktop:DesktopAgent`. */
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
  const env = parseConfig(SetupEnv, environment);
  return {
    secretsDir: env.ORRERY_SECRETS_DIR,
    natsUrl: env.ORRERY_NATS_URL,
    natsMonitorUrl: env.ORRERY_NATS_MONITOR_URL,
    devices: env.ORRERY_SETUP_DEVICES,
  };
}
