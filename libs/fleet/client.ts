import type { ClientRole, DeviceId, FleetCommit, Instant, RecordedFleetEvent, Revocation } from '#proto';
import type { EventContext } from './device.js';

/** A client that is no device: it may send tasks. Folded from its subject in FLEET. */
export interface Client {
  readonly clientId: DeviceId;
  readonly role: ClientRole;
  /** The devices that it may send tasks to; null: every one. */
  readonly targets: DeviceId[] | null;
  /** SHA-256 of its static token; null when it is revoked. */
  readonly credentialHash: string | null;
  readonly enrolledAt: Instant;
  readonly revoked: Revocation | null;
}

/** Folds one recorded fact; total over FleetEvent, without a clock. */
export function evolveClient(
  client: Client | undefined,
  event: RecordedFleetEvent,
  { deviceId: clientId }: EventContext,
): Client {
  if (event.type === 'CLIENT_ENROLLED') return { clientId, ...event.data, revoked: null };
  if (client === undefined) throw new Error(`${event.type} of ${clientId} comes before CLIENT_ENROLLED`);
  if (event.type === 'CLIENT_REVOKED') return { ...client, credentialHash: null, revoked: event.data };
  throw new Error(`${event.type} cannot be said of the client ${clientId}, which is no device`);
}

/** Folds a stored commit. */
export function evolveClientCommit(client: Client | undefined, commit: FleetCommit): Client | undefined {
  return commit.events.reduce<Client | undefined>((before, event) => evolveClient(before, event, commit), client);
}
