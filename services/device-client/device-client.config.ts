import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse, YAMLParseError } from 'yaml';
import { z } from 'zod';
import { parseWith, sentenceOf } from '#proto';
import { errorCode } from './error-code.js';
import type { ToolboxServer } from './toolbox.client.js';

/** Bad input of a person: one clear sentence, exit code 3. */
export class InputError extends Error {}

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

export const DeviceConfig = z.strictObject({
  /** More MCP servers, by name. `${NAME}` in env and headers is replaced from the environment of the client. */
  mcpServers: z
    .record(z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -'), ToolServer)
    .default({}),
  /** Commands that run at the same time. */
  commandsMax: z.int().min(1).max(256).default(16),
});
export type DeviceConfig = z.infer<typeof DeviceConfig>;

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

/** The address of the server. A credential in it would end up in logs. */
export function serverUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['ws:', 'wss:'].includes(url.protocol)) {
    throw new InputError(`--url must be a ws:// or wss:// address such as ws://127.0.0.1:5000/ws, not "${text}".`);
  }
  if (url.username !== '' || url.password !== '')
    throw new InputError('--url must not contain a user name or password.');
  return url.href;
}

/** The device's token: from a file, read again at every connection, or once from standard input. */
export async function tokenSource(file: string | undefined): Promise<() => Promise<string>> {
  if (file === undefined) {
    const token = checkedToken(await readStandardInput(), 'standard input');
    return () => Promise.resolve(token);
  }
  const read = async (): Promise<string> => checkedToken(await readText(file, '--token-file', TOKEN_BYTES_MAX), file);
  await read();
  return read;
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
