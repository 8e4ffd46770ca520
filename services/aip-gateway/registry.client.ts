import { createHash } from 'node:crypto';
import type { NatsConnection } from '@nats-io/transport-node';
import { query } from '#libs/messaging';
import type { DeviceId } from '#proto';

const AUTHENTICATE_MS = 3_000;

/** Whose token this is; null when it is nobody's. Only its hash crosses the bus. Throws when the registry does not answer. */
export type Authenticate = (token: string) => Promise<DeviceId | null>;

export function registryAuthentication(nc: NatsConnection): Authenticate {
  return async (token) => {
    const tokenHash = createHash('sha256').update(token).digest('hex');
    const { deviceId } = await query(nc, 'registry', 'authenticate', { tokenHash }, AUTHENTICATE_MS);
    return deviceId;
  };
}
