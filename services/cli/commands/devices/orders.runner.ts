import type { NatsConnection } from '@nats-io/transport-node';
import { query } from '#libs/messaging';
import type { AgentProfile, DeviceId } from '#proto';
import { withSignedBus } from '../../bus/index.js';
import {
  cleanLine,
  saidBy,
  badInput,
  EXIT,
  type ExitCode,
  printJson,
  type CliContext,
  tell,
} from '../../terminal/index.js';

export interface HoldOptions {
  readonly ids: readonly string[];
  /** The whole fleet, with what is enrolled later. */
  readonly all?: boolean | undefined;
  readonly reason?: string | undefined;
}

/** Lets nothing new start on devices; what runs there goes on. */
export function holdDevices(context: CliContext, options: HoldOptions): Promise<ExitCode> {
  const done = (changed: boolean): string => (changed ? 'is held: nothing new starts there' : 'was held already');
  return holdOrRelease(context, 'hold', { ...options, done });
}

/** The other way round; a device that is held together with the fleet is free when both are released. */
export function releaseDevices(context: CliContext, options: HoldOptions): Promise<ExitCode> {
  const done = (changed: boolean): string => (changed ? 'is released' : 'was not held');
  return holdOrRelease(context, 'release', { ...options, done });
}

async function holdOrRelease(
  context: CliContext,
  name: 'hold' | 'release',
  { ids, all = false, reason, done }: HoldOptions & { readonly done: (changed: boolean) => string },
): Promise<ExitCode> {
  if (all === ids.length > 0) throw badInput(`Name the devices to ${name}, or say --all for the whole fleet.`);
  const { terminal, json } = context;
  return withSignedBus(context, async (nc) => {
    if (!all) mustBeKnown('device', ids, await deviceIds(nc));
    const changes: { device: DeviceId | null; changed: boolean }[] = [];
    for (const device of all ? [null] : new Set(ids)) {
      const body = { deviceId: device, ...said(reason) };
      const { changed } = await query(nc, 'registry', name, body);
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

export interface ScreenOptions {
  readonly id: string;
  readonly reason?: string | undefined;
}

/** Gives the screen of a device to who asks. */
export function takeOver(context: CliContext, { id, reason }: ScreenOptions): Promise<ExitCode> {
  const body = { deviceId: id, screen: true, ...said(reason) } as const;
  return orderScreen(context, id, async (nc) => {
    const { changed } = await query(nc, 'registry', 'hold', body);
    return { changed, words: changed ? 'is yours: what agents want of its screen waits' : 'was taken over already' };
  });
}

/** The other way round. */
export function handBack(context: CliContext, { id }: ScreenOptions): Promise<ExitCode> {
  return orderScreen(context, id, async (nc) => {
    const { changed } = await query(nc, 'registry', 'release', { deviceId: id, screen: true });
    return { changed, words: changed ? 'is handed back: agents look again before they act' : 'was not taken over' };
  });
}

function orderScreen(
  context: CliContext,
  id: string,
  order: (nc: NatsConnection) => Promise<{ readonly changed: boolean; readonly words: string }>,
): Promise<ExitCode> {
  const { terminal, json } = context;
  return withSignedBus(context, async (nc) => {
    mustBeKnown('device', [id], await deviceIds(nc));
    const { changed, words } = await order(nc);
    const { devices } = await query(nc, 'registry', 'devices', {});
    const taken = devices.find(({ deviceId }) => deviceId === id)?.taken;
    if (json) printJson(context, { device: id, changed, taken: taken ?? null });
    else terminal.out(`${id} ${words}${!changed && taken !== undefined ? ` by ${saidBy(taken)}` : ''}`);
    return EXIT.ok;
  });
}

export interface RevokeOptions {
  readonly ids: readonly string[];
  readonly reason?: string | undefined;
}

/** Ends every credential of devices. They stay in the list: a device that is enrolled again, and joins, is back. */
export function revokeDevices(context: CliContext, options: RevokeOptions): Promise<ExitCode> {
  return revoke(context, 'device', options);
}

export function revokeClients(context: CliContext, options: RevokeOptions): Promise<ExitCode> {
  return revoke(context, 'client', options);
}

function revoke(context: CliContext, kind: 'device' | 'client', { ids, reason }: RevokeOptions): Promise<ExitCode> {
  const { terminal, json } = context;
  return withSignedBus(context, async (nc) => {
    mustBeKnown(kind, ids, kind === 'device' ? await deviceIds(nc) : await clientIds(nc));
    const changes: { id: DeviceId; changed: boolean }[] = [];
    for (const id of new Set(ids)) {
      const body = { id, ...said(reason) };
      const { changed } = await query(nc, 'registry', 'revoke', body);
      changes.push({ id, changed });
      if (!json) terminal.out(`${id} ${changed ? 'is revoked: its credentials count no more' : 'was revoked already'}`);
    }
    return tell(context, { changes });
  });
}

function said(reason: string | undefined): { reason?: string } {
  return reason === undefined ? {} : { reason };
}

async function deviceIds(nc: NatsConnection): Promise<DeviceId[]> {
  return (await query(nc, 'registry', 'devices', {})).devices.map(({ deviceId }) => deviceId);
}

async function clientIds(nc: NatsConnection): Promise<DeviceId[]> {
  return (await query(nc, 'registry', 'clients', {})).clients.map(({ clientId }) => clientId);
}

/** All of them or none: a slip of the pen is found before anything is done. */
function mustBeKnown(kind: 'device' | 'client', ids: readonly string[], known: readonly DeviceId[]): void {
  const unknown = ids.filter((id) => !known.includes(id)).map((id) => `"${cleanLine(id)}"`);
  if (unknown.length > 0) throw badInput(`There is no ${kind} ${unknown.join(', ')}; see: orrery ${kind}s`);
}

/** Who is released alone may be held with the fleet, and the other way round. */
function stillHeld(held: readonly AgentProfile[], { ids, all }: Pick<HoldOptions, 'ids' | 'all'>): string[] {
  return held
    .filter(({ deviceId }) => all || ids.includes(deviceId))
    .map(({ deviceId, held: hold }) => {
      const by = hold === null ? '' : ` by ${saidBy(hold)}`;
      return all ? `${deviceId} is still held alone${by}` : `${deviceId} is still held with the whole fleet${by}`;
    });
}
