/**
 * FLEET, one of the six aggregates: devices, clients, holds and revoked grants, folded from facts, and what is decided about them.
 * Pure; the registry looks at presence, arms timers and stores.
 */
export type { Client } from './client.js';
export * from './decide-identity.js';
export * from './decide.js';
export { credentialKind, evolveDeviceCommit, isRecorded, liveSession, type Device } from './device.js';
export * from './fleet-state.js';
export {
  decideGiven,
  NOTHING_GIVEN,
  type GivenProfile,
  type GivenChange,
  type GivenDecision,
  type GivenRefusal,
} from './given.js';
export { decideGrantRevocation, standing, type GrantOrder, type GrantRevocation } from './grants.js';
export { decideHandBack, decideTakeOver } from './take-over.js';
/** For tests: facts of a device and a client, as short as they can be said. */
export * as testing from './testing/given.js';
