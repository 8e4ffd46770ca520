import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { NatsConnection } from '@nats-io/transport-node';
import { readSecret, writeSecret } from '#libs/keys';
import { query } from '#libs/messaging';
import type { DeviceWish } from './devices.js';
import type { Say } from './setup.runner.js';

const PRIVATE_DIR = 0o700;

/**
 * Admits each device once and writes its token where only the device mounts it. Who is killed between the two admits the
 * device again at the next start: the registry replaces the credential that nobody has.
 */
export async function admitDevices(
  nc: NatsConnection,
  { wishes, directory, say }: { wishes: readonly DeviceWish[]; directory: string; say: Say },
): Promise<void> {
  for (const { deviceId, admin } of wishes) {
    const tokenFile = join(directory, deviceId, 'token');
    if ((await readSecret(tokenFile)) !== undefined) {
      say(`device ${deviceId}: known`);
      continue;
    }
    await mkdir(join(directory, deviceId), { recursive: true, mode: PRIVATE_DIR });
    const { token } = await query(nc, 'registry', 'enroll', { deviceId, admin });
    await writeSecret(tokenFile, token);
    say(`device ${deviceId}: admitted with tags ${admin.tags.join(', ') || 'none'}`);
  }
}
