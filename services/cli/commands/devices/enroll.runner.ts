import { chmod, readFile, writeFile } from 'node:fs/promises';
import { query, type QueryAnswer } from '#libs/messaging';
import { AdminProfile, DeviceId, LIMITS, parseWith, sentenceOf, ServiceManifest, type AgentProfile } from '#proto';
import { withBus } from '../../bus/index.js';
import { badInput, failure, EXIT, type ExitCode, type CliContext, tell } from '../../terminal/index.js';
import { checkGatewayUrl, shellWord, URL_PLACEHOLDER, urlWithToken } from './gateway-url.js';
import { homeOf, parseEndpoints } from '../../home/index.js';

export interface EnrollOptions {
  readonly id?: string | undefined;
  readonly tags: readonly string[];
  readonly capabilities: readonly string[];
  /** Of the gateway; without it that of the system that runs here. */
  readonly url?: string | undefined;
  /** Where the token is written instead of being printed. */
  readonly tokenFile?: string | undefined;
  /** A static token. */
  readonly foreign?: boolean | undefined;
  /** The kind of agent that does its tasks in words; the one it has, or LinuxAgent, when absent. */
  readonly agent?: string | undefined;
}

const MINUTES = LIMITS.joinTokenMs / 60_000;

/** Enrols a device and says what to run there. The token is shown or written once; nobody can show it again. */
export async function enrollDevice(context: CliContext, options: EnrollOptions): Promise<ExitCode> {
  const { id, tokenFile, foreign } = options;
  const admin = adminOf(options);
  const url = await gatewayUrl(context, options.url);
  const credential = foreign ? 'token' : 'join';
  const request = {
    ...(id === undefined ? {} : { deviceId: checkId(id, 'a device id') }),
    ...admin,
    ...manifestOf(options),
    credential,
  } as const;
  const { before, enrolled } = await withBus(context, async (nc) => {
    const { devices } = await query(nc, 'registry', 'devices', {});
    return {
      before: devices.find(({ deviceId }) => deviceId === id),
      enrolled: await query(nc, 'registry', 'enroll', request),
    };
  });
  if (tokenFile !== undefined) await writeToken(tokenFile, enrolled.token, 'device');
  if (foreign) return sayForeign(context, enrolled, { url, tokenFile });
  return sayJoin(context, enrolled, { url, tokenFile, hasJoined: hasJoined(before) });
}

function manifestOf({ agent }: EnrollOptions): { manifest?: ServiceManifest } {
  if (agent === undefined) return {};
  const parsed = parseWith(ServiceManifest, { agent });
  if (parsed.ok) return { manifest: parsed.value };
  throw badInput(`--agent: ${parsed.issues.map(({ message }) => message).join('; ')}`);
}

/** It may still have its data directory, with a key that counts or has counted. */
function hasJoined(before: AgentProfile | undefined): boolean {
  return before?.credential === 'key' || (before?.revoked ?? null) !== null;
}

type Enrolled = QueryAnswer<'registry', 'enroll'>;

interface Place {
  readonly url: string;
  readonly tokenFile: string | undefined;
}

function sayJoin(
  context: CliContext,
  { deviceId, token, expiresAt }: Enrolled,
  { url, tokenFile, hasJoined: again }: Place & { readonly hasJoined: boolean },
): ExitCode {
  const join = `orrery-device join --url ${shellWord(url)}`;
  // With a key at hand the device leaves its standard input alone, unless it is named.
  const piped = `printf %s '${token}' | ${join}${again ? ' --token-file /dev/stdin' : ''}`;
  const command = tokenFile === undefined ? piped : `${join} --token-file ${shellWord(tokenFile)}`;
  const { terminal, json } = context;
  if (json)
    return tell(context, {
      deviceId,
      ...(tokenFile === undefined ? { token } : { tokenFile }),
      expiresAt,
      url,
      command,
    });
  const limits = `within ${MINUTES} minutes; its token works once`;
  const done = again ? `Device ${deviceId} may join with a new key` : `Device ${deviceId} is enrolled`;
  terminal.err(
    tokenFile === undefined
      ? `${done}. Run this there ${limits}:`
      : `${done}, its token is in ${tokenFile}. Take the file there, and run this ${limits}:`,
  );
  terminal.out(command);
  return EXIT.ok;
}

function sayForeign(context: CliContext, { deviceId, token }: Enrolled, { url, tokenFile }: Place): ExitCode {
  const { terminal, json } = context;
  const connect = urlWithToken(url);
  if (json) return tell(context, { deviceId, ...(tokenFile === undefined ? { token } : { tokenFile }), url: connect });
  sayToken(context, `Device ${deviceId} is enrolled`, { url, token, tokenFile });
  terminal.err('Our own device client is safer: it keeps a key of its own and never sends it; leave out --foreign.');
  return EXIT.ok;
}

/** A static token, and what to do with it. */
export function sayToken(
  { terminal }: Pick<CliContext, 'terminal'>,
  enrolled: string,
  { url, token, tokenFile }: Place & { readonly token: string },
): void {
  if (tokenFile === undefined) terminal.out(token);
  const where =
    tokenFile === undefined ? 'the static token above is not shown again' : `its static token is in ${tokenFile}`;
  terminal.err(`${enrolled}; ${where}. The client connects to`);
  terminal.err(`  ${urlWithToken(url)}`);
  terminal.err(
    'Such a token never expires, and addresses end up in logs: whoever reads one is the client from then on,',
  );
  terminal.err('until it is revoked or enrolled again. Use wss://, and a name for each client.');
}

function adminOf({ tags, capabilities }: EnrollOptions): { admin?: AdminProfile } {
  // What is not given again stays as it was.
  if (tags.length === 0 && capabilities.length === 0) return {};
  const parsed = parseWith(AdminProfile, { tags: [...tags], capabilities: [...capabilities] });
  if (parsed.ok) return { admin: parsed.value };
  throw badInput(`--${parsed.issues.map(sentenceOf).join('; ')}`, parsed.issues);
}

export function checkId(id: string, what: string): DeviceId {
  if (DeviceId.safeParse(id).success) return id;
  throw badInput(`--id: ${what} must be 1 to 64 characters out of A-Z, a-z, 0-9, "_" and "-"`);
}

/** Never over a file that exists: it could be somebody else's token. */
export async function writeToken(file: string, token: string, whose: 'device' | 'client'): Promise<void> {
  try {
    await writeFile(file, `${token}\n`, { mode: 0o600, flag: 'wx' });
    await chmod(file, 0o600);
  } catch (error) {
    throw failure(`The ${whose} is enrolled, but its token cannot be written to ${file}; enrol it again.`, error);
  }
}

/** As given; else that of the system that runs here; else a placeholder. */
export async function gatewayUrl({ env }: Pick<CliContext, 'env'>, given: string | undefined): Promise<string> {
  if (given !== undefined) return checkGatewayUrl(given);
  const text = await readFile(homeOf(env).endpointsFile, 'utf8').catch(() => '');
  return parseEndpoints(text)?.aip ?? URL_PLACEHOLDER;
}
