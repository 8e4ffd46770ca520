import { chmod, readFile, writeFile } from 'node:fs/promises';
import {
  AuthorityPem,
  enrollBlock,
  InstallDir,
  isOpen,
  joinCommand,
  URL_PLACEHOLDER,
  urlWord,
  type PastedBlock,
} from '#libs/device-offer';
import { query, type QueryAnswer } from '#libs/messaging';
import { shellWord } from '#libs/visible';
import {
  AdminProfile,
  DeviceId,
  LIMITS,
  parseWith,
  sentenceOf,
  ServiceManifest,
  type AgentProfile,
  type ProfileValues,
} from '#proto';
import { withBus } from '../../bus/index.js';
import { badInput, failure, EXIT, type ExitCode, type CliContext, tell } from '../../terminal/index.js';
import { endpointsHere, offerOf, whyNotServed } from './offer.client.js';
import { checkGatewayUrl, urlWithToken } from './gateway-url.js';
import { profileFrom } from './profile-words.js';

export interface EnrollOptions {
  readonly id?: string | undefined;
  readonly tags: readonly string[];
  readonly capabilities: readonly string[];
  readonly os?: string | undefined;
  /** `key=value` of its profile. */
  readonly set?: readonly string[] | undefined;
  /** Of the gateway; without it that of the system that runs here. */
  readonly url?: string | undefined;
  /** Where the token is written instead of being printed. */
  readonly tokenFile?: string | undefined;
  /** PEM of the authority that the gateway's certificate is of. */
  readonly caFile?: string | undefined;
  /** Where the client is installed on the device. */
  readonly dir?: string | undefined;
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
  const set = setOf(options);
  const reachable = await deviceUrl(context, options.url);
  const url = reachable ?? (await gatewayUrl(context, undefined));
  const place = { url, ca: await authority(options.caFile), dir: checkDir(options.dir) };
  const wantsBlock = reachable !== undefined && tokenFile === undefined && foreign !== true;
  const offer = wantsBlock ? await offerOf(context) : undefined;
  const credential = foreign ? 'token' : 'join';
  const request = {
    ...(id === undefined ? {} : { deviceId: checkId(id, 'a device id') }),
    ...admin,
    ...set,
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
  if (offer !== undefined) return sayBlock(context, enrolled, { ...place, offer });
  return sayJoin(context, enrolled, {
    url,
    tokenFile,
    hasJoined: hasJoined(before),
    isReachable: reachable !== undefined,
  });
}

async function sayBlock(
  context: CliContext,
  { deviceId, token, expiresAt }: Enrolled,
  place: Omit<PastedBlock, 'token'>,
): Promise<ExitCode> {
  const { terminal, json } = context;
  const { url, offer, ca } = place;
  const block = enrollBlock({ ...place, token });
  if (json) {
    const command = joinCommand({ url, token });
    return tell(context, { deviceId, token, expiresAt, url, command, block, release: offer.release });
  }
  terminal.err(
    `Device ${deviceId} is enrolled. Paste this there within ${MINUTES} minutes, as root for the whole machine or as`,
  );
  terminal.err('the user that it is to work as; its token works once. It needs nothing but curl or wget:');
  terminal.out(block);
  if (isOpen(url)) {
    terminal.err(
      'ws:// is without TLS: the SHA-256 keeps the program what it is, but whoever is on the way can use the',
    );
    terminal.err('token first, read what the device is told, and tell it something else. wss:// keeps him from it.');
  }
  const why = await whyNotServed(url, offer, ca);
  if (why !== undefined) {
    terminal.err(`Seen from here nothing can be fetched at ${url}: ${why}.`);
    terminal.err('A gateway listens on this machine alone unless it is started with ORRERY_BIND=0.0.0.0.');
  }
  return EXIT.ok;
}

async function authority(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw badInput(`--ca-file: ${file} cannot be read (${error instanceof Error ? error.message : String(error)})`);
  });
  if (AuthorityPem.safeParse(text).success) return text;
  throw badInput(`--ca-file: ${file} must hold certificates (PEM) and nothing else`);
}

function checkDir(dir: string | undefined): string | undefined {
  if (dir === undefined || InstallDir.safeParse(dir).success) return dir;
  throw badInput('--dir must be a whole path of letters, digits and ./+@_-, for example /opt/orrery-device');
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
  {
    url,
    tokenFile,
    hasJoined: again,
    isReachable,
  }: Place & { readonly hasJoined: boolean; readonly isReachable: boolean },
): ExitCode {
  const join = `orrery-device join --url ${urlWord(url)}`;
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
  if (!isReachable) {
    terminal.err(
      'That is for a machine that has the client. For lines that bring it along, say under which address devices',
    );
    terminal.err(
      'reach this system: --url wss://orrery.example.org/ws, or ORRERY_AIP_URL for all that are enrolled from now on.',
    );
  }
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

function setOf({ os, set = [] }: EnrollOptions): { set?: ProfileValues } {
  const values = profileFrom([...(os === undefined ? [] : [`os=${os}`]), ...set]);
  return Object.keys(values).length === 0 ? {} : { set: values };
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

type Surroundings = Pick<CliContext, 'env'>;

/** Where devices reach the gateway, as somebody has said: here, for this shell, or to the system that runs here when it was started. */
async function deviceUrl(context: Surroundings, given: string | undefined): Promise<string | undefined> {
  if (given !== undefined) return checkGatewayUrl(given);
  const known = context.env['ORRERY_AIP_URL'] || (await endpointsHere(context))?.aipPublic;
  return known === undefined ? undefined : checkGatewayUrl(known, 'ORRERY_AIP_URL');
}

/** As given; else as devices reach it; else that of the system that runs here; else a placeholder. */
export async function gatewayUrl(context: Surroundings, given: string | undefined): Promise<string> {
  return (await deviceUrl(context, given)) ?? (await endpointsHere(context))?.aip ?? URL_PLACEHOLDER;
}
