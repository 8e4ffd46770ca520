import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import { isKeptOut } from '#libs/fleet';
import { readSecret, writeSecret } from '#libs/keys';
import { query, QueryRefusedError, QueryUnavailableError } from '#libs/messaging';
import { parseJson, type AgentProfile } from '#proto';
import { failure } from '../terminal/index.js';
import { type Home, makeDir } from '../home/index.js';
import type { LocalDevice } from '../processes/index.js';

/** As long as the process of a device may take to be ready. */
const CONNECT_MS_MAX = 180_000;
const POLL_MS = 50;
const PRIVATE_DIR = 0o700;

/** What a device client keeps in its data directory, as far as it matters here. */
const KeptIdentity = z.looseObject({ joined: z.looseObject({ deviceId: z.string() }).nullable() });

/**
 * Gives a join token to each local device that has no key, or one that the registry does not know. One that has both needs
 * nothing. Resolves with those that can connect; one that was revoked stays out until a person enrols it.
 */
export async function enrolLocals(
  nc: NatsConnection,
  home: Home,
  { devices, say }: { readonly devices: readonly LocalDevice[]; readonly say: (text: string) => void },
): Promise<LocalDevice[]> {
  const { devices: profiles } = await query(nc, 'registry', 'devices', {});
  const known = new Map(profiles.map((profile) => [profile.deviceId, profile]));
  const ready = await Promise.all(
    devices.map(async (device) => {
      const profile = known.get(device.id);
      if (isKeptOut(profile)) {
        const again = `orrery devices enroll --id ${device.id}`;
        say(`${device.id} is revoked and not started; "${again}" lets it in again at the next start`);
        return [];
      }
      await enrolLocal(nc, home, { device, profile });
      return [device];
    }),
  );
  return ready.flat();
}

async function enrolLocal(
  nc: NatsConnection,
  home: Home,
  { device, profile }: { readonly device: LocalDevice; readonly profile: AgentProfile | undefined },
): Promise<void> {
  const { id, tags, agent } = device;
  await makeDir(home.deviceDir(id), PRIVATE_DIR);
  if (profile?.credential === 'key' && (await hasKey(home, device))) return;
  try {
    // Only what is new gets tags: an operator may have given it others since.
    const admin = profile === undefined ? { admin: { tags: [...tags], capabilities: [] } } : {};
    const kind = profile === undefined && agent !== undefined ? { manifest: { agent, capabilities: [] } } : {};
    const { token } = await query(nc, 'registry', 'enroll', { deviceId: id, ...admin, ...kind, credential: 'join' });
    await writeSecret(home.deviceTokenFile(id), token);
  } catch (error) {
    if (!(error instanceof QueryRefusedError)) throw error;
    throw failure(`The local device ${id} cannot be enrolled: ${error.message}`, error);
  }
}

/** What cannot be read is none: the device says so itself, and what would help. */
async function hasKey(home: Home, { id, dataDir }: LocalDevice): Promise<boolean> {
  const file = dataDir === undefined ? home.deviceIdentityFile(id) : join(dataDir, 'identity.json');
  const text = await readSecret(file).catch(() => undefined);
  return KeptIdentity.safeParse(parseJson(text ?? '')).data?.joined?.deviceId === id;
}

/** Resolves with their profiles when all of them are connected, as the registry sees it. */
export async function untilConnected(
  nc: NatsConnection,
  home: Home,
  { ids, signal }: { readonly ids: readonly string[]; readonly signal: AbortSignal },
): Promise<AgentProfile[]> {
  const deadline = performance.now() + CONNECT_MS_MAX;
  for (;;) {
    const here = await connectedOf(nc, ids);
    if (here.length === ids.length) return here;
    if (performance.now() > deadline) {
      const missing = ids.filter((id) => !here.some(({ deviceId }) => deviceId === id));
      const [first = ''] = missing;
      throw failure(
        `${missing.join(', ')} did not connect in ${CONNECT_MS_MAX / 1000} s; see ${home.logFile(first)}. ` +
          `If its key counts no more, remove ${home.deviceIdentityFile(first)} and start again: it gets a new one.`,
      );
    }
    await sleep(POLL_MS, undefined, { signal });
  }
}

async function connectedOf(nc: NatsConnection, ids: readonly string[]): Promise<AgentProfile[]> {
  try {
    const { devices } = await query(nc, 'registry', 'devices', {});
    return devices.filter(({ deviceId, status }) => status === 'connected' && ids.includes(deviceId));
  } catch (error) {
    if (error instanceof QueryUnavailableError) return [];
    throw error;
  }
}
