import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ConfigError, envUrl, parseConfig, type Environment } from './config.js';

/** What a service with a database reads beside `ServiceConfig`. */
export const DatabaseConfig = z.object({
  /** Where PostgreSQL is, with the user and the database. */
  ORRERY_DATABASE_URL: envUrl('postgres:', 'postgresql:'),
  /** Takes the place of a password in the URL: an environment is easier to read for others than a file. */
  ORRERY_DATABASE_PASSWORD_FILE: z.string().optional(),
});

/** The address of the database with its password; throws ConfigError, which never contains either. */
export function readDatabaseUrl(environment: Environment): string {
  const env = parseConfig(DatabaseConfig, environment);
  if (env.ORRERY_DATABASE_PASSWORD_FILE === undefined) return env.ORRERY_DATABASE_URL;
  const url = new URL(env.ORRERY_DATABASE_URL);
  url.password = encodeURIComponent(readPassword(env.ORRERY_DATABASE_PASSWORD_FILE));
  return url.href;
}

function readPassword(file: string): string {
  let password;
  try {
    password = readFileSync(file, 'utf8').replace(/\r?\n$/u, '');
  } catch (cause) {
    throw new ConfigError('ORRERY_DATABASE_PASSWORD_FILE names a file that cannot be read.', { cause });
  }
  if (password === '') throw new ConfigError('The file of ORRERY_DATABASE_PASSWORD_FILE is empty.');
  return password;
}
