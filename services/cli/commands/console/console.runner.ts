import { readFile } from 'node:fs/promises';
import { encodeLoginCode, newLoginNonce, signLoginCode } from '#libs/keys';
import { isLoopback } from '#libs/platform';
import { LIMITS } from '#proto';
import { ownSeed } from '../../bus/index.js';
import { homeOf, parseEndpoints } from '../../home/index.js';
import { badInput, EXIT, momentText, tell, unreachable, type CliContext, type ExitCode } from '../../terminal/index.js';
import { openInBrowser } from './browser.adapter.js';

export interface ConsoleOptions {
  readonly open: boolean;
  readonly url?: string;
}

/**
 * A link that logs in once. Its code is made here, with the key of the person who types: nobody is asked, and nobody keeps it. It stands
 * behind the `#` of the link, which no browser sends.
 * @throws CliError without a key, or when nobody has said where the console is.
 */
export async function linkToConsole(context: CliContext, { open, url }: ConsoleOptions): Promise<ExitCode> {
  const { env, terminal, json } = context;
  const origin = originOf(url ?? (await consoleUrl(env)));
  const now = context.now();
  const [issuedAt, expiresAt] = [instantOf(now), instantOf(now + LIMITS.loginCodeMs)];
  const code = signLoginCode(await ownSeed(context), { origin, issuedAt, nonce: newLoginNonce() });
  const link = `${origin}/login/code#${encodeLoginCode(code)}`;
  if (json) return tell(context, { url: link, origin, expiresAt });
  terminal.out(link);
  terminal.err(`Whoever opens this link before ${momentText(expiresAt)} is logged in as you. It works once.`);
  if (open && terminal.isTerminal && (await openInBrowser(link, env))) terminal.err('Your browser opens it.');
  return EXIT.ok;
}

/** Of the system that is meant, as far as anybody has written it down. */
async function consoleUrl(env: NodeJS.ProcessEnv): Promise<string> {
  const said = env['ORRERY_CONSOLE_URL'] ?? '';
  if (said !== '') return said;
  const isElsewhere = (env['ORRERY_NATS_URL'] ?? '') !== '';
  const text = isElsewhere ? undefined : await readFile(homeOf(env).endpointsFile, 'utf8').catch(() => undefined);
  const endpoints = text === undefined ? undefined : parseEndpoints(text);
  if (endpoints !== undefined) return endpoints.consolePublic ?? endpoints.console;
  if (!isElsewhere) {
    throw unreachable(`No system is running in ${homeOf(env).root}; start one with "orrery up", or say --url.`);
  }
  throw badInput(
    'Where the console of this system is, nobody has said: --url https://orrery.example.org, or ORRERY_CONSOLE_URL.',
  );
}

/** Whoever is in between could log in with the code: it goes to this machine, or over https. */
function originOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== 'https:' && parsed?.protocol !== 'http:') {
    throw badInput(`--url: "${url}" is no address of a console; say it as https://orrery.example.org.`);
  }
  if (parsed.protocol === 'https:' || isLoopback(parsed.hostname)) return parsed.origin;
  throw badInput(
    `--url: "${parsed.origin}" must begin with https:// unless it names this machine: whoever is in between could log in as you.`,
  );
}

const instantOf = (ms: number): string => new Date(ms).toISOString();
