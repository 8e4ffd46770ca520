import { chmod, writeFile } from 'node:fs/promises';
import { readFile } from 'node:fs/promises';
import { query } from '#libs/messaging';
import { AdminProfile, DeviceId, parseWith, sentenceOf } from '#proto';
import type { AgentProfile } from '#proto';
import { withBus } from '../bus.client.js';
import { badInput, failure } from '../errors.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import { homeOf } from '../home.config.js';
import { parseEndpoints } from '../system/endpoints.js';
import { renderTable } from '../table.js';
import { printJson, type CliContext } from '../terminal.js';

const GATEWAY_PLACEHOLDER = 'ws://<gateway>:5000/ws';

export async function listDevices(context: CliContext): Promise<ExitCode> {
  const { devices } = await withBus(context, (nc) => query(nc, 'registry', 'devices', {}));
  const { terminal, json } = context;
  if (json) {
    printJson(context, { devices: devices.map((profile) => ({ id: profile.deviceId, ...profile })) });
    return EXIT.ok;
  }
  if (devices.length === 0) {
    terminal.err('No device is enrolled yet; see: orrery devices enroll --help');
    return EXIT.ok;
  }
  const columns = [
    { title: 'DEVICE', value: ({ deviceId }: AgentProfile) => deviceId },
    { title: 'STATUS', value: ({ status }: AgentProfile) => status, status: true },
    { title: 'OS', value: ({ os }: AgentProfile) => os || '-' },
    { title: 'CAPABILITIES', value: ({ capabilities }: AgentProfile) => capabilities.join(' ') || '-' },
    { title: 'TAGS', value: ({ tags }: AgentProfile) => tags.join(' ') || '-' },
    { title: 'HOST', value: ({ hostname }: AgentProfile) => hostname || '-' },
  ];
  terminal.out(renderTable(devices, columns, terminal));
  return EXIT.ok;
}

export interface EnrollOptions {
  readonly id: string | undefined;
  readonly tags: readonly string[];
  readonly capabilities: readonly string[];
  /** Where the token is written instead of being printed. */
  readonly tokenFile: string | undefined;
}

/** Enrols a device and says what to run there. The token is shown or written once; nobody can show it again. */
export async function enrollDevice(context: CliContext, options: EnrollOptions): Promise<ExitCode> {
  const { id, tokenFile } = options;
  const admin = adminOf(options);
  if (id !== undefined && !DeviceId.safeParse(id).success) {
    throw badInput('--id: a device id must be 1 to 64 characters out of A-Z, a-z, 0-9, "_" and "-"');
  }
  const { deviceId, token } = await withBus(context, (nc) =>
    query(nc, 'registry', 'enroll', id === undefined ? { admin } : { deviceId: id, admin }),
  );
  if (tokenFile !== undefined) await writeToken(tokenFile, token);
  const url = await gatewayUrl(context.env);
  const file = tokenFile ?? `${deviceId}.token`;
  const command = `orrery-device join --url ${url} --token-file ${file}`;
  const { terminal, json } = context;
  if (json) {
    printJson(context, { deviceId, ...(tokenFile === undefined ? { token } : { tokenFile }), url, command });
    return EXIT.ok;
  }
  if (tokenFile === undefined) {
    terminal.out(token);
    terminal.err(`Device ${deviceId} is enrolled; the token above is not shown again. Put it into the file ${file} on`);
    terminal.err('the device (readable by its user only), and run there:');
  } else {
    terminal.err(
      `Device ${deviceId} is enrolled, its token is in ${tokenFile}. Take the file to the device, and run there:`,
    );
  }
  terminal.err(`  ${command}`);
  return EXIT.ok;
}

function adminOf({ tags, capabilities }: EnrollOptions): AdminProfile {
  const parsed = parseWith(AdminProfile, { tags: [...tags], capabilities: [...capabilities] });
  if (parsed.ok) return parsed.value;
  throw badInput(`--${parsed.issues.map(sentenceOf).join('; ')}`, parsed.issues);
}

/** Never over a file that exists: it could be the token of another device. */
async function writeToken(file: string, token: string): Promise<void> {
  try {
    await writeFile(file, `${token}\n`, { mode: 0o600, flag: 'wx' });
    await chmod(file, 0o600);
  } catch (error) {
    throw failure(`The device is enrolled, but its token cannot be written to ${file}; enrol it again.`, error);
  }
}

async function gatewayUrl(env: NodeJS.ProcessEnv): Promise<string> {
  const text = await readFile(homeOf(env).endpointsFile, 'utf8').catch(() => '');
  return parseEndpoints(text)?.aip ?? GATEWAY_PLACEHOLDER;
}
