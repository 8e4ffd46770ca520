/**
 * FLEET, one of the four aggregates: devices, clients, holds and revoked grants, folded from facts, and what is decided about them.
 * Pure; the registry looks at presence, arms timers and stores.
 */
export type { Client } from './client.js';
export { decideClientEnrolment, decideEnrolment, decideJoin, decideRevocation } from './decide-identity.js';
export type { Bearer, Joining, NewCredential } from './decide-identity.js';
export { decideHold, decidePresence, decideRelease, wakeUpAfter } from './decide.js';
export type { FleetDecision, RejectedReason } from './decide.js';
export { credentialKind, evolveDeviceCommit, isRecorded, liveSession } from './device.js';
export type { Device } from './device.js';
export { FleetState } from './fleet-state.js';
export { decideGrantRevocation, standing } from './grants.js';
export type { GrantOrder, GrantRevocation } from './grants.js';
/** For tests: facts of a device and a client, as short as they can be said. */
export * as testing from './testing/given.js';
