import type { NatsConnection } from '@nats-io/transport-node';
import { query } from '#libs/messaging';
import type { AgentProfile } from '#proto';
import { ok, warn, type Diagnosis } from './finding.js';

/** The devices as the registry sees them. */
export async function checkDevices(nc: NatsConnection): Promise<Diagnosis[]> {
  const { devices } = await query(nc, 'registry', 'devices', {});
  const living = devices.filter(({ revoked }) => revoked === null || revoked === undefined);
  const away = living
    .filter(({ status }) => status !== 'connected')
    .map(({ deviceId, status }) => `${deviceId} is ${status}`);
  const held = living
    .filter((device) => device.held !== null)
    .map(({ deviceId }: AgentProfile) => `${deviceId} is held`);
  const connected = `${living.length - away.length} of ${living.length} connected`;
  if (away.length === 0 && held.length === 0) return [ok('devices', connected)];
  const remedy = 'orrery devices; tasks wait for who is away or held';
  return [warn('devices', `${connected}: ${[...away, ...held].join(', ')}`, remedy)];
}
