import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { NatsConnection } from '@nats-io/transport-node';
import { isKeptOut } from '#libs/fleet';
import { writeSecret } from '#libs/keys';
import { query } from '#libs/messaging';
import { LIMITS, type AdminProfile, type DeviceId } from '#proto';
import type { DeviceWish } from './devices.js';
import type { Say } from './secrets.js';

const PRIVATE_DIR = 0o700;
const MINUTES = LIMITS.joinTokenMs / 60_000;

/** One sentence for a person. */
class SetupInputError extends Error {
  override readonly name = 'SetupInputError';
}

/**
 * Admits each device that has no key yet, and writes its join token where only the device mounts it. Who is killed between the
 * two admits the device again at the next start: the token that nobody has is replaced. A device that has joined keeps its
 * key in its own volume, which nobody else sees; without that volume it needs `renewDevice`.
 */
export async function admitDevices(
  nc: NatsConnection,
  { wishes, directory, say }: { wishes: readonly DeviceWish[]; directory: string; say: Say },
): Promise<void> {
  const { devices } = await query(nc, 'registry', 'devices', {});
  const known = new Map(devices.map((profile) => [profile.deviceId, profile]));
  for (const { deviceId, admin, agent } of wishes) {
    const profile = known.get(deviceId);
    if (isKeptOut(profile)) {
      say(`device ${deviceId}: revoked; the step "device-token ${deviceId}" lets it in again`);
    } else if (profile?.credential === 'key') {
      say(`device ${deviceId}: known`);
    } else {
      // Only what is new gets tags: an operator may have given it others since.
      await admit(nc, { deviceId, directory, ...(profile === undefined ? { admin, agent } : {}) });
      say(`device ${deviceId}: admitted with tags ${(profile?.tags ?? admin.tags).join(', ') || 'none'}`);
    }
  }
}

/** A new join token for a device that lost its key, or was revoked. What it has goes on until it joins. */
export async function renewDevice(
  nc: NatsConnection,
  { deviceId, directory, say }: { deviceId: DeviceId; directory: string; say: Say },
): Promise<void> {
  const { devices } = await query(nc, 'registry', 'devices', {});
  const known = devices.map((profile) => profile.deviceId);
  if (!known.includes(deviceId)) {
    throw new SetupInputError(`There is no device ${deviceId}; there are ${known.toSorted().join(', ') || 'none'}.`);
  }
  await admit(nc, { deviceId, directory });
  say(`device ${deviceId}: has a new join token, good for ${MINUTES} minutes; restart its container`);
}

interface AdmitOptions {
  readonly deviceId: DeviceId;
  readonly directory: string;
  readonly admin?: AdminProfile;
  readonly agent?: string | undefined;
}

async function admit(nc: NatsConnection, { deviceId, directory, admin, agent }: AdmitOptions): Promise<void> {
  await mkdir(join(directory, deviceId), { recursive: true, mode: PRIVATE_DIR });
  const granted = admin === undefined ? {} : { admin };
  const kind = agent === undefined ? {} : { manifest: { agent, capabilities: [] } };
  const { token } = await query(nc, 'registry', 'enroll', { deviceId, ...granted, ...kind, credential: 'join' });
  await writeSecret(join(directory, deviceId, 'token'), token);
}
