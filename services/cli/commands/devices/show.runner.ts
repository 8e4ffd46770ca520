import type { NatsConnection } from '@nats-io/transport-node';
import { profileEntries } from '#libs/constellation';
import { openFleetLog } from '#libs/event-log';
import { query } from '#libs/messaging';
import type { AgentProfile, DeviceId } from '#proto';
import { withBus } from '../../bus/index.js';
import {
  cleanLine,
  badInput,
  failure,
  EXIT,
  type ExitCode,
  paintFor,
  type CliContext,
  tell,
} from '../../terminal/index.js';
import { deviceLines, type ProfileSources } from './device-text.js';

/** One device: what it is and does, and which of the three sources of its profile said what. */
export async function showDevice(context: CliContext, id: string): Promise<ExitCode> {
  const { terminal, json, now } = context;
  const { profile, sources } = await withBus(context, async (nc) => {
    const found = await findDevice(nc, id);
    return { profile: found, sources: await sourcesOf(nc, found.deviceId) };
  });
  if (json)
    return tell(context, { device: { id: profile.deviceId, ...profile }, profile: profileEntries(profile), sources });
  for (const text of deviceLines(profile, sources, { now: now(), paint: paintFor(terminal) })) terminal.out(text);
  return EXIT.ok;
}

async function findDevice(nc: NatsConnection, id: string): Promise<AgentProfile> {
  const { devices } = await query(nc, 'registry', 'devices', {});
  const found = devices.find(({ deviceId }) => deviceId === id);
  if (found === undefined) throw badInput(`There is no device "${cleanLine(id)}"; see: orrery devices`);
  return found;
}

/** A profile shows what came of them; the log has each as it was given. */
async function sourcesOf(nc: NatsConnection, deviceId: DeviceId): Promise<ProfileSources> {
  const facts = (await openFleetLog(nc).load(deviceId)).flatMap(({ commit }) => commit.events);
  const enrolled = facts.findLast((event) => event.type === 'DEVICE_ENROLLED');
  const connected = facts.findLast((event) => event.type === 'DEVICE_CONNECTED');
  const changed = facts.findLast((event) => event.type === 'DEVICE_TOOLS_CHANGED');
  if (enrolled === undefined)
    throw failure(`The log does not say that ${deviceId} was enrolled. Try: orrery verify --all`);
  const { admin, manifest } = enrolled.data;
  const telemetry = connected?.data.telemetry ?? null;
  const isLater = changed !== undefined && changed.sequence > (connected?.sequence ?? 0);
  return { admin, manifest, telemetry: telemetry && isLater ? { ...telemetry, tools: changed.data.tools } : telemetry };
}
