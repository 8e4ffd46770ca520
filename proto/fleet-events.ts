import { z } from 'zod';
import { Actor } from './actors.js';
import {
  AdminProfile,
  ClientTelemetry,
  DeviceHold,
  DeviceSession,
  Revocation,
  ServiceManifest,
  ToolInfo,
} from './agent-profile.js';
import { commitShape, type EventOf, recordedEvent, recordedEvents } from './commit.js';
import { ProfileKey, ProfileValues } from './device-profile.js';
import { RevokedGrants } from './grants.js';
import { DeviceId, idSchema, Instant, SessionId, Sha256 } from './ids.js';
import { LIMITS } from './limits.js';

/** Aggregate of what holds for the whole fleet; no device can be enrolled under it. */
export const FLEET_ID: DeviceId = '_fleet';
/** Aggregate of the grants that people have taken back; no device can be enrolled under it either. */
export const GRANTS_ID: DeviceId = '_grants';

/** An Ed25519 public key as in RFC 8037: the 32 bytes in base64url. */
export const DeviceKey = z
  .string()
  .regex(/^[A-Za-z0-9_-]{43}$/, 'must be an Ed25519 public key, 32 bytes in base64url');
export type DeviceKey = z.infer<typeof DeviceKey>;

const SCHEMAS = {
  DEVICE_ENROLLED: z.strictObject({
    admin: AdminProfile,
    manifest: ServiceManifest,
    /** SHA-256 of the device's static token, null without one; the token itself is shown once and stored nowhere. */
    credentialHash: Sha256.nullable(),
    /** The token with which its client may join, once, and until when. */
    join: z.strictObject({ tokenHash: Sha256, expiresAt: Instant }).optional(),
    enrolledAt: Instant,
  }),
  DEVICE_CONNECTED: z.strictObject({ session: DeviceSession, telemetry: ClientTelemetry }),
  /** In the same session a device that keeps no journal names other tools than before, all of them. */
  DEVICE_TOOLS_CHANGED: z.strictObject({ sessionId: SessionId, tools: z.array(ToolInfo).max(1_000) }),
  /** Several clients have its credential and take the session from each other; this one has it while newcomers are refused. */
  DEVICE_CONTENDED: z.strictObject({ sessionId: SessionId, contendedAt: Instant }),
  DEVICE_SUSPECT: z.strictObject({ sessionId: SessionId, suspectAt: Instant, lostAt: Instant }),
  DEVICE_LOST: z.strictObject({ sessionId: SessionId, lostAt: Instant }),
  /** Nothing new starts on the device, or on any device when it is an event of FLEET_ID. With `screen` a person has taken its screen over. */
  DEVICE_HELD: DeviceHold,
  /** With `screen` its screen is handed back, and what is held besides stays so. */
  DEVICE_RELEASED: z.strictObject({ by: Actor, releasedAt: Instant, screen: z.literal(true).optional() }),
  /** The administrator says what the device is: names with their values, and names that have none any more. */
  DEVICE_PROFILE_CHANGED: z.strictObject({
    set: ProfileValues,
    unset: z.array(ProfileKey).max(LIMITS.profileKeysMax),
    by: Actor,
    changedAt: Instant,
    /** Of the command that ordered it; absent: it came with an enrolment. */
    commandId: idSchema('the id of a command').optional(),
  }),
  /** A client has used the join token and bound its own key to the device; the key before, if there was one, counts no more. */
  DEVICE_JOINED: z.strictObject({ tokenHash: Sha256, publicKey: DeviceKey, joinedAt: Instant }),
  DEVICE_REVOKED: Revocation,
  /** A client that is no device: it may send tasks to `targets`, or to every device. */
  CLIENT_ENROLLED: z.strictObject({
    role: z.literal('constellation'),
    targets: z.array(DeviceId).max(1_000).nullable(),
    credentialHash: Sha256,
    enrolledAt: Instant,
  }),
  CLIENT_REVOKED: Revocation,
  /** An event of GRANTS_ID only. */
  GRANTS_REVOKED: RevokedGrants,
} as const;

export type FleetEventType = keyof typeof SCHEMAS;
export const FLEET_EVENT_TYPES = Object.keys(SCHEMAS) as FleetEventType[];

export const RecordedFleetEvent = recordedEvent(SCHEMAS);
export type RecordedFleetEvent = z.infer<typeof RecordedFleetEvent>;

export type FleetEvent = EventOf<typeof SCHEMAS>;

/** One message of `orrery.fleet.<deviceId>`; a client that is no device has its own subject there, under an id that no device has. */
export const FleetCommit = z.strictObject({
  ...commitShape,
  deviceId: DeviceId,
  events: recordedEvents(RecordedFleetEvent),
});
export type FleetCommit = z.infer<typeof FleetCommit>;
