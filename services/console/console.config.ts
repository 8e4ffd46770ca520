import { readFileSync, statSync } from 'node:fs';
import { z } from 'zod';
import { GatewayUrl, offerDir } from '#libs/device-offer';
import { ConfigError, envInt, envUrl, isLoopback, type Environment, parseConfig } from '#libs/platform';
import { appFolder } from './app/index.js';
import type { OidcConfig } from './login/index.js';
import { readScreens, type ScreenServer } from './screens/index.js';

const PORT_DEFAULT = 8080;
/** Rights of anybody but the owner. */
const OTHERS = 0o077;

/** What this service reads beside `ServiceConfig`. */
export const ConsoleEnv = z.object({
  /** Port of the HTTP interface, and of the probes; 0 is any free one. */
  ORRERY_CONSOLE_PORT: envInt({ min: 0, max: 65_535 }).default(PORT_DEFAULT),
  /** Holds the SHA-256 of the admin token in hex, never the token; `off` when people have logins of their own. */
  ORRERY_CONSOLE_TOKEN_FILE: z.string({
    error: 'must be the path of a file with the SHA-256 of the admin token in hex, or "off"',
  }),
  /** Further names under which browsers and programs may reach the console, separated by commas. */
  ORRERY_CONSOLE_HOSTS: z
    .string()
    .regex(/^[A-Za-z0-9.,:[\]_ -]*$/u, 'must be host names separated by commas')
    .default(''),
  /** Where browsers reach the console. */
  ORRERY_CONSOLE_URL: envUrl('https:', 'http:').optional(),
  /** Directory of the web application as it is built; that of this build when absent. */
  ORRERY_CONSOLE_WEB_DIR: z.string().optional(),
  /** Address under which devices reach the gateway, for the lines that make a device of a machine. */
  ORRERY_AIP_URL: z.string().optional(),
  /** Directory of what machines that are to become devices are given; that of this installation when absent. */
  ORRERY_DEVICE_OFFER: z.string().optional(),
  /** File of JSON: by device, the VNC server through which its screen is shown. */
  ORRERY_SCREENS_FILE: z.string().optional(),
  /** The identity provider that people log in at (OpenID Connect). */
  ORRERY_OIDC_ISSUER: envUrl('https:', 'http:').optional(),
  /** Name of the console there; together with the issuer. */
  ORRERY_OIDC_CLIENT_ID: z.string().max(512).optional(),
  /** File with its secret, mode 0600; absent for a client without one. */
  ORRERY_OIDC_CLIENT_SECRET_FILE: z.string().optional(),
});
type Env = z.infer<typeof ConsoleEnv>;

export interface ConsoleConfig {
  readonly port: number;
  readonly adminTokenFile: string;
  readonly hosts: readonly string[];
  /** Where browsers reach the console, when that is known: with a scheme, and with a port where it is not the usual one. */
  readonly origin: string | undefined;
  /** Where the files of the web application lie. */
  readonly appFolder: string;
  /** Where devices reach the gateway, when somebody has said so. */
  readonly gatewayUrl: string | undefined;
  /** Where the archives of the device client lie. */
  readonly offerDir: string;
  /** By device. */
  readonly screens: ReadonlyMap<string, ScreenServer>;
  readonly oidc: OidcConfig | undefined;
}

/** Throws ConfigError; without a file for the admin token nobody could be let in at first, so the process refuses to run. */
export function readConsoleConfig(environment: Environment): ConsoleConfig {
  const env = parseConfig(ConsoleEnv, environment);
  const url = env.ORRERY_CONSOLE_URL === undefined ? undefined : new URL(env.ORRERY_CONSOLE_URL);
  const hosts = env.ORRERY_CONSOLE_HOSTS.split(',').map((host) => host.trim().toLowerCase());
  checkTokenFile(env.ORRERY_CONSOLE_TOKEN_FILE);
  return {
    port: env.ORRERY_CONSOLE_PORT,
    adminTokenFile: env.ORRERY_CONSOLE_TOKEN_FILE,
    hosts: [...hosts, url?.hostname ?? ''].filter((host) => host !== ''),
    origin: url?.origin,
    appFolder: env.ORRERY_CONSOLE_WEB_DIR ?? appFolder(),
    gatewayUrl: gatewayOf(env.ORRERY_AIP_URL),
    offerDir: offerDir(env.ORRERY_DEVICE_OFFER),
    screens: readScreens(env.ORRERY_SCREENS_FILE),
    oidc: oidcOf(env, url),
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

function gatewayOf(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  const parsed = GatewayUrl.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new ConfigError(`ORRERY_AIP_URL ${parsed.error.issues.map(({ message }) => message).join('; ')}.`);
}

function oidcOf(env: Env, url: URL | undefined): OidcConfig | undefined {
  const { ORRERY_OIDC_ISSUER: issuerText, ORRERY_OIDC_CLIENT_ID: clientId } = env;
  if (issuerText === undefined) return undefined;
  if (clientId === undefined) throw new ConfigError('ORRERY_OIDC_CLIENT_ID is not set; ORRERY_OIDC_ISSUER needs it.');
  if (url === undefined)
    throw new ConfigError('ORRERY_CONSOLE_URL is not set; ORRERY_OIDC_ISSUER sends browsers back to it.');
  const issuer = new URL(issuerText);
  for (const [variable, { protocol, hostname }] of [
    ['ORRERY_OIDC_ISSUER', issuer],
    ['ORRERY_CONSOLE_URL', url],
  ] as const) {
    if (protocol === 'https:' || isLoopback(hostname)) continue;
    throw new ConfigError(
      `${variable} must begin with https:// unless it names this machine: whoever is in between could log in as anybody.`,
    );
  }
  const file = env.ORRERY_OIDC_CLIENT_SECRET_FILE;
  const clientSecret = file === undefined ? undefined : readPrivate('ORRERY_OIDC_CLIENT_SECRET_FILE', file);
  return { issuer, clientId, clientSecret, redirectUri: new URL('/login/callback', url.origin).href };
}

function checkTokenFile(file: string): void {
  const text = read('ORRERY_CONSOLE_TOKEN_FILE', file);
  if (/^(?:[0-9a-f]{64}|off)$/iu.test(text)) return;
  throw new ConfigError(
    'The file of ORRERY_CONSOLE_TOKEN_FILE must hold a SHA-256 in hex, or "off", and nothing else.',
  );
}

function readPrivate(variable: string, file: string): string {
  const secret = read(variable, file);
  if (secret === '') throw new ConfigError(`The file of ${variable} is empty.`);
  if ((statSync(file).mode & OTHERS) === 0) return secret;
  throw new ConfigError(`The file of ${variable} can be read by others; its mode must be 0600.`);
}

function read(variable: string, file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new ConfigError(`${variable} names a file that cannot be read.`, { cause });
  }
}
