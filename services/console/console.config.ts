import { z } from 'zod';
import { ConfigError, envInt, type Environment, parseConfig, readTokenHash } from '#libs/platform';

const PORT_DEFAULT = 8080;

const Env = z.object({
  ORRERY_CONSOLE_PORT: envInt({ min: 0, max: 65_535 }).default(PORT_DEFAULT),
  /** Holds the SHA-256 of the administrator's token in hex, never the token. */
  ORRERY_CONSOLE_TOKEN_FILE: z.string({
    error: 'must be the path of a file with the SHA-256 of the admin token in hex',
  }),
  /** Further names under which browsers and programs may reach the console, separated by commas. */
  ORRERY_CONSOLE_HOSTS: z
    .string()
    .regex(/^[A-Za-z0-9.,:[\]_ -]*$/u, 'must be host names separated by commas')
    .default(''),
});

export interface ConsoleConfig {
  readonly port: number;
  readonly tokenHash: string;
  readonly hosts: readonly string[];
}

/** Throws ConfigError; without a token hash nobody could be let in, so the process refuses to run. */
export function readConsoleConfig(environment: Environment): ConsoleConfig {
  const env = parseConfig(Env, environment);
  const hosts = env.ORRERY_CONSOLE_HOSTS.split(',').map((host) => host.trim().toLowerCase());
  return {
    port: env.ORRERY_CONSOLE_PORT,
    tokenHash: readTokenHash('ORRERY_CONSOLE_TOKEN_FILE', env.ORRERY_CONSOLE_TOKEN_FILE),
    hosts: hosts.filter((host) => host !== ''),
  };
}

/** As `readConsoleConfig` of this process; a bad one ends it with a sentence. */
export function loadConsoleConfig(): ConsoleConfig {
  try {
    return readConsoleConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}
