import { access, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { parse, YAMLParseError } from 'yaml';
import { z } from 'zod';
import { RECONNECT } from '#libs/aip';
import { AIP_LIMITS, DesktopSettings, LIMITS, MobileSettings, parseWith, sentenceOf } from '#proto';
import { errorCode, InputError } from '../faults/index.js';
import { ExecLimits } from '../sandbox/index.js';
import type { ClientTls } from '../identity/index.js';
import type { ToolboxServer } from '../tools/index.js';

const CONFIG_BYTES_MAX = 256 * 1024;
const TOKEN_BYTES_MAX = 16 * 1024;
const TOOL_TIMEOUT_MS = 10 * 60 * 1000;
const HOUR_MS = 60 * 60 * 1000;

const Variables = z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'not the name of a variable'), z.string());
const timeoutMs = z
  .int()
  .min(1)
  .max(24 * HOUR_MS)
  .default(TOOL_TIMEOUT_MS);
const ToolServer = z.union(
  [
    z.strictObject({
      command: z.string().min(1),
      args: z.array(z.string()).default([]),
      env: Variables.default({}),
      cwd: z.string().min(1).optional(),
      timeoutMs,
    }),
    z.strictObject({
      url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
      headers: z.record(z.string(), z.string()).default({}),
      timeoutMs,
    }),
  ],
  { error: 'must be {command, args?, env?, cwd?, timeoutMs?} or {url, headers?, timeoutMs?}' },
);

/** They have names in common, and one listing would stand for both. */
const BOTH = 'must have desktop or mobile, not both: for the other one a second device client joins';

export const DeviceConfig = z.strictObject({
  /** More MCP servers, by name. `${NAME}` in env and headers is replaced from the environment of the client. */
  mcpServers: z
    .record(z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -'), ToolServer)
    .default({}),
  /** What agents may use beside commands; nothing of it is there unless it is said. */
  tools: z
    .strictObject({ desktop: DesktopSettings.optional(), mobile: MobileSettings.optional() })
    .refine(({ desktop, mobile }) => desktop === undefined || mobile === undefined, BOTH)
    .default({}),
  /** A server that is silent for this long is gone: shorter on good lines. */
  deadAfterMs: z.int().min(2_000).max(HOUR_MS).default(AIP_LIMITS.deadAfterMs),
  /** The longest wait between two tries to connect. */
  reconnectMsMax: z.int().min(1_000).max(HOUR_MS).default(RECONNECT.msMax),
  /** Commands that run at the same time. */
  commandsMax: z.int().min(1).max(256).default(16),
  /** What becomes of running commands while there is no server: they go on, or they are ended after the grace. */
  onDisconnect: z.enum(['finish', 'kill']).default('finish'),
  disconnectGraceMs: z
    .int()
    .min(0)
    .max(24 * HOUR_MS)
    .default(60_000),
  files: z
    .strictObject({
      /** Directories beside the jail directory from which files may be given, and into which they may be written. */
      paths: z
        .array(z.string().regex(/^\/[^\0]*$/, 'must be an absolute path'))
        .max(64)
        .default([]),
    })
    .default({ paths: [] }),
  /** Of each output of a command that is longer than its result holds: so much is stored as an artifact. 0: nothing is. */
  outputBytesMax: z.int().min(0).max(LIMITS.fileBytesMax).default(LIMITS.fileBytesMax),
  /** How commands are run. */
  exec: z
    .strictObject({
      umask: z
        .string()
        .regex(/^0?[0-7]{3}$/, 'must be three octal digits such as "022"')
        .default('022'),
      limits: ExecLimits.default({}),
      /** For --sandbox. */
      sandbox: z
        .strictObject({
          commands: z.enum(['agents', 'all']).default('agents'),
          writable: z
            .array(z.string().regex(/^\/[^\0]*$/, 'must be an absolute path'))
            .max(64)
            .default([]),
          network: z.boolean().default(false),
          /** Beside what holds secrets for the policy: not seen by commands. */
          hidden: z
            .array(z.string().regex(/^\/[^\0]*$/, 'must be an absolute path'))
            .max(256)
            .default([]),
        })
        .prefault({}),
    })
    .prefault({}),
  /** `query`: for servers of UFO, which take a token as `?token=` only. It ends up in their logs. */
  credentialIn: z.enum(['header', 'query']).default('header'),
});
export type DeviceConfig = z.infer<typeof DeviceConfig>;

/** Servers of UFO have the agents of screens for what registers as `windows`; those of ours go by what a device is enrolled for. */
export const platformFor = ({ credentialIn, tools }: DeviceConfig, platform: string): string =>
  credentialIn === 'query' && tools.desktop !== undefined ? 'windows' : platform;

/** Reads the YAML file; every problem is named with its place. */
export async function readConfig(file: string | undefined): Promise<DeviceConfig> {
  if (file === undefined) return DeviceConfig.parse({});
  const text = await readText(file, '--config', CONFIG_BYTES_MAX);
  const parsed = parseWith(DeviceConfig, parseYaml(file, text) ?? {});
  if (parsed.ok) return parsed.value;
  throw new InputError(`${file}: ${parsed.issues.map(sentenceOf).join('; ')}`);
}

/** The servers of the configuration with their variables filled in. */
export function toolServersOf(
  config: DeviceConfig,
  environment: Readonly<Record<string, string | undefined>>,
): ToolboxServer[] {
  return Object.entries(config.mcpServers).map(([name, server]) => {
    const fill = (values: Record<string, string>) =>
      Object.fromEntries(Object.entries(values).map(([key, value]) => [key, filled(name, value, environment)]));
    if ('url' in server) {
      const { url, headers, timeoutMs } = server;
      return { name, timeoutMs, spec: { kind: 'http', url, headers: fill(headers) } };
    }
    const { command, args, env, cwd, timeoutMs } = server;
    return { name, timeoutMs, spec: { kind: 'stdio', command, args, env: fill(env), cwd } };
  });
}

/** The addresses of servers, each given with an option of its own or in a list with commas. */
export function serverUrls(texts: readonly string[]): string[] {
  return [...new Set(texts.flatMap((text) => text.split(',')).map((text) => serverUrl(text.trim())))];
}

/** The address of a server. A credential in it would end up in logs. */
export function serverUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['ws:', 'wss:'].includes(url.protocol)) {
    throw new InputError(`--url must be a ws:// or wss:// address such as ws://127.0.0.1:5000/ws, not "${text}".`);
  }
  if (url.username !== '' || url.password !== '')
    throw new InputError('--url must not contain a user name or password.');
  if (url.searchParams.has('token')) {
    throw new InputError(
      '--url must not contain a token: give it with --token-file, and "credentialIn: query" in the file of --config if the server wants it in the address.',
    );
  }
  return url.href;
}

/** Where a person has put the device's token. */
export interface TokenSource {
  /** `needed`: there is nothing else to prove oneself with. Otherwise a file may be gone, and standard input is left alone. */
  read(needed: boolean): Promise<string | undefined>;
  /** For every further connection: a file is read again, so that a new token in it counts. */
  again(): Promise<string>;
}

export function tokenSource(file: string | undefined): TokenSource {
  return file === undefined ? tokenOnStandardInput() : tokenInFile(file);
}

function tokenInFile(file: string): TokenSource {
  const again = async (): Promise<string> => checkedToken(await readText(file, '--token-file', TOKEN_BYTES_MAX), file);
  const read = async (needed: boolean): Promise<string | undefined> =>
    !needed && (await isMissing(file)) ? undefined : again();
  return { again, read };
}

function tokenOnStandardInput(): TokenSource {
  let token: Promise<string> | undefined;
  const again = (): Promise<string> =>
    (token ??= readStandardInput().then((text) => checkedToken(text, STANDARD_INPUT)));
  return { again, read: (needed) => (needed ? again() : Promise.resolve(undefined)) };
}

const STANDARD_INPUT = 'standard input';

/** What stands on standard input, if somebody has put something there. */
export async function givenToken(): Promise<string | undefined> {
  const text = process.stdin.isTTY ? '' : await readStandardInput();
  return text.trim() === '' ? undefined : checkedToken(text, STANDARD_INPUT);
}

/** Files for connections with TLS, all PEM. */
export interface TlsOptions {
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
}

/** Reads them at every connection: what was renewed counts without a restart. */
export async function tlsSource({ caFile, certFile, keyFile }: TlsOptions): Promise<() => Promise<ClientTls>> {
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new InputError('--cert-file and --key-file must be given together.');
  }
  const part = async (file: string | undefined, option: string): Promise<string | undefined> => {
    if (file === undefined) return undefined;
    const text = await readText(file, option, CONFIG_BYTES_MAX);
    // What is none would pass for "no certificate at all".
    if (!text.includes('-----BEGIN ')) throw new InputError(`${option}: ${file} is not a PEM file.`);
    return text;
  };
  const read = async (): Promise<ClientTls> => {
    const ca = await part(caFile, '--ca-file');
    const cert = await part(certFile, '--cert-file');
    const key = await part(keyFile, '--key-file');
    return { ...(ca !== undefined && { ca }), ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) };
  };
  await checkTls(read);
  return read;
}

async function checkTls(read: () => Promise<ClientTls>): Promise<void> {
  const tls = await read();
  try {
    createSecureContext(tls);
  } catch (cause) {
    throw new InputError(
      '--ca-file, --cert-file and --key-file must be PEM files, and the key that of the certificate.',
      {
        cause,
      },
    );
  }
}

export function dataDirOf(given: string | undefined): string {
  return resolve(given ?? join(homedir(), '.orrery-device'));
}

async function readStandardInput(): Promise<string> {
  if (process.stdin.isTTY) throw new InputError('Give the token with --token-file, or on standard input.');
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > TOKEN_BYTES_MAX) throw new InputError('What is on standard input is too long for a token.');
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** A header takes visible ASCII only; the token itself never appears in a message. */
function checkedToken(text: string, where: string): string {
  const token = text.trim();
  if (token === '') throw new InputError(`There is no token in ${where}.`);
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new InputError(`The token in ${where} is not one word of visible characters.`);
  return token;
}

async function isMissing(file: string): Promise<boolean> {
  return access(file).then(
    () => false,
    (error: unknown) => errorCode(error) === 'ENOENT',
  );
}

async function readText(file: string, option: string, bytesMax: number): Promise<string> {
  const content = await readFile(file).catch((error: unknown) => {
    const code = errorCode(error);
    const why = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code ?? 'unknown reason'})`;
    throw new InputError(`${option}: the file ${file} ${why}.`);
  });
  if (content.length > bytesMax) throw new InputError(`${option}: the file ${file} is longer than ${bytesMax} bytes.`);
  return content.toString('utf8');
}

function parseYaml(file: string, text: string): unknown {
  try {
    return parse(text, { maxAliasCount: 100 });
  } catch (error) {
    if (!(error instanceof YAMLParseError)) throw error;
    throw new InputError(`${file} is not valid YAML: ${error.message.split('\n')[0] ?? ''}`);
  }
}

function filled(server: string, value: string, environment: Readonly<Record<string, string | undefined>>): string {
  return value.replaceAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
    const found = environment[name];
    if (found === undefined) throw new InputError(`mcpServers.${server}: the environment has no variable ${name}.`);
    return found;
  });
}
