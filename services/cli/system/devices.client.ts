import { setTimeout as sleep } from 'node:timers/promises';
import { readSecret, writeSecret } from '#libs/keys';
import type { NatsConnection } from '@nats-io/transport-node';
import { query, QueryRefusedError, QueryUnavailableError } from '#libs/messaging';
import { failure } from '../errors.js';
import type { Home } from './home.js';
import type { LocalDevice } from './plan.js';
import { makeDir } from './whole-file.adapter.js';

const CONNECT_MS_MAX = 30_000;
const POLL_MS = 50;
const PRIVATE_DIR = 0o700;

/** Enrols a local device once; its token stays in the home and is used again at every start. */
export async function enrolLocal(nc: NatsConnection, home: Home, { id, tags }: LocalDevice): Promise<void> {
  await makeDir(home.deviceDir(id), PRIVATE_DIR);
  const file = home.deviceTokenFile(id);
  if ((await readSecret(file)) !== undefined) return;
  try {
    const { token } = await query(nc, 'registry', 'enroll', {
      deviceId: id,
      admin: { tags: [...tags], capabilities: [] },
    });
    await writeSecret(file, token);
  } catch (error) {
    if (!(error instanceof QueryRefusedError)) throw error;
    throw failure(`The local device ${id} cannot be enrolled: ${error.message}`, error);
  }
}

/** Resolves when all of them are connected, as the registry sees it. */
export async function untilConnected(nc: NatsConnection, ids: readonly string[], signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + CONNECT_MS_MAX;
  for (;;) {
    const missing = await notConnected(nc, ids);
    if (missing.length === 0) return;
    if (performance.now() > deadline) {
      throw failure(`${missing.join(', ')} did not connect in ${CONNECT_MS_MAX / 1000} s; see the log of the device.`);
    }
    await sleep(POLL_MS, undefined, { signal });
  }
}

async function notConnected(nc: NatsConnection, ids: readonly string[]): Promise<string[]> {
  try {
    const { devices } = await query(nc, 'registry', 'devices', {});
    const connected = new Set(devices.filter(({ status }) => status === 'connected').map(({ deviceId }) => deviceId));
    return ids.filter((id) => !connected.has(id));
  } catch (error) {
    if (error instanceof QueryUnavailableError) return [...ids];
    throw error;
  }
}
