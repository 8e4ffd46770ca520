import type { Logger } from 'pino';
import type { DeviceId } from '#proto';
import type { Connection } from '../connection/index.js';
import type { RegistryPort } from '../identity/index.js';
import type { Connections } from './connections.js';

export interface CheckAgainParts {
  readonly registry: Pick<RegistryPort, 'identify'>;
  readonly connections: Connections;
  readonly logger: Logger;
}

/** An identity has lost credentials: its connections stay only if they were let in with others. */
export function checkAgain(id: DeviceId, parts: CheckAgainParts): void {
  parts.connections.of(id).forEach((connection) => void check(connection, parts));
}

async function check(connection: Connection, { registry, connections, logger }: CheckAgainParts): Promise<void> {
  const { id, role } = connection.identity;
  const bearer = connections.bearerOf(connection);
  if (bearer === undefined) return;
  const identity = await registry.identify(bearer).catch((error: unknown) => {
    logger.warn({ err: error, id }, 'nobody could say whether this connection may stay');
    return null;
  });
  if (identity?.id !== id || identity.role !== role) connection.revoke();
}
