import { chmod, writeFile } from 'node:fs/promises';
import { readFile } from 'node:fs/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { proveActor } from '#libs/keys';
import { query } from '#libs/messaging';
import { AdminProfile, DeviceId, parseWith, sentenceOf, subjects } from '#proto';
import type { AgentProfile, DeviceHold } from '#proto';
import { withBus, withSignedBus } from '../bus.client.js';
import { cleanLine } from '../clean.js';
import { badInput, failure } from '../errors.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import { homeOf } from '../home.config.js';
import { parseEndpoints } from '../system/endpoints.js';
import { renderTable } from '../table.js';
import { printJson, type CliContext } from '../terminal.js';

const GATEWAY_PLACEHOLDER = 'ws://<gateway>:5000/ws';
const REASON_SHOWN_MAX = 40;

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
    { title: 'HELD', value: ({ held }: AgentProfile) => (held === null ? '-' : `by ${heldBy(held)}`) },
  ];
  terminal.out(renderTable(devices, columns, terminal));
  return EXIT.ok;
}

export interface HoldOptions {
  readonly ids: readonly string[];
  /** The whole fleet, with what is enrolled later. */
  readonly all: boolean;
  readonly reason?: string | undefined;
}

/** Lets nothing new start on devices; what runs there goes on. */
export function holdDevices(context: CliContext, options: HoldOptions): Promise<ExitCode> {
  const done = (changed: boolean): string => (changed ? 'is held: nothing new starts there' : 'was held already');
  return order(context, 'hold', options, done);
}

/** The other way round; a device that is held together with the fleet is free when both are released. */
export function releaseDevices(context: CliContext, options: HoldOptions): Promise<ExitCode> {
  return order(context, 'release', options, (changed) => (changed ? 'is released' : 'was not held'));
}

type Order = 'hold' | 'release';

async function order(
  context: CliContext,
  name: Order,
  { ids, all, reason }: HoldOptions,
  done: (changed: boolean) => string,
): Promise<ExitCode> {
  if (all === ids.length > 0) throw badInput(`Name the devices to ${name}, or say --all for the whole fleet.`);
  const { terminal, json } = context;
  return withSignedBus(context, async (nc, seed) => {
    if (!all) await mustBeKnown(nc, ids);
    const said = reason === undefined ? {} : { reason };
    const changes: { device: DeviceId | null; changed: boolean }[] = [];
    for (const device of all ? [null] : new Set(ids)) {
      const body = { deviceId: device, ...said };
      const at = new Date(context.now()).toISOString();
      const actor = proveActor(seed, { subject: subjects.query('registry', name), at, body });
      const { changed } = await query(nc, 'registry', name, { ...body, actor });
      changes.push({ device, changed });
      if (!json) terminal.out(`${device ?? 'the whole fleet'} ${done(changed)}`);
    }
    const { devices } = await query(nc, 'registry', 'devices', {});
    const held = devices.filter((profile) => profile.held !== null);
    if (json) printJson(context, { changes, held: held.map(({ deviceId }) => deviceId) });
    else if (name === 'release') for (const line of stillHeld(held, { ids, all })) terminal.err(line);
    return EXIT.ok;
  });
}

/** All of them or none: a slip of the pen is found before the first one is held. */
async function mustBeKnown(nc: NatsConnection, ids: readonly string[]): Promise<void> {
  const { devices } = await query(nc, 'registry', 'devices', {});
  const known = new Set(devices.map(({ deviceId }) => deviceId));
  const unknown = ids.filter((id) => !known.has(id)).map((id) => `"${cleanLine(id)}"`);
  if (unknown.length > 0) throw badInput(`There is no device ${unknown.join(', ')}; see: orrery devices`);
}

/** Who is released alone may be held with the fleet, and the other way round. */
function stillHeld(held: readonly AgentProfile[], { ids, all }: Pick<HoldOptions, 'ids' | 'all'>): string[] {
  return held
    .filter(({ deviceId }) => all || ids.includes(deviceId))
    .map(({ deviceId, held: hold }) => {
      const by = hold === null ? '' : ` by ${heldBy(hold)}`;
      return all ? `${deviceId} is still held alone${by}` : `${deviceId} is still held with the whole fleet${by}`;
    });
}

function heldBy({ by, reason }: DeviceHold): string {
  const short = reason.length > REASON_SHOWN_MAX ? `${reason.slice(0, REASON_SHOWN_MAX).toWellFormed()}…` : reason;
  return cleanLine(short === '' ? by.id : `${by.id}: ${short}`);
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
