import type { AgentProfile } from '#proto';

export type DeviceStanding = 'connected' | 'held' | 'suspect' | 'lost' | 'offline' | 'revoked';

/** What counts most of how a device stands. */
export function deviceState({ status, held, revoked }: AgentProfile): DeviceStanding {
  if (revoked !== null && revoked !== undefined) return 'revoked';
  if (held !== null && status === 'connected') return 'held';
  return status;
}
