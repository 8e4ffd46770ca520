import { z } from 'zod';
import { Actor } from './actors.js';
import { AdminProfile, ClientTelemetry, DeviceHold, DeviceSession, ServiceManifest } from './agent-profile.js';
import { commitShape, eventEnvelope } from './commit.js';
import { DeviceId, Instant, SessionId, Sha256 } from './ids.js';

/** Aggregate of what holds for the whole fleet; no device can be enrolled under it. */
export const FLEET_ID: DeviceId = '_fleet';

export const DeviceEnrolled = z.strictObject({
  admin: AdminProfile,
  manifest: ServiceManifest,
  /** SHA-256 of the device's token; the token itself is shown once and stored nowhere. */
  credentialHash: Sha256,
  enrolledAt: Instant,
});
export const DeviceConnected = z.strictObject({ session: DeviceSession, telemetry: ClientTelemetry });
export const DeviceSuspect = z.strictObject({ sessionId: SessionId, suspectAt: Instant, lostAt: Instant });
export const DeviceLost = z.strictObject({ sessionId: SessionId, lostAt: Instant });

/** Nothing new starts on the device, or on any device when it is an event of FLEET_ID. */
export const DeviceHeld = DeviceHold;
export const DeviceReleased = z.strictObject({ by: Actor, releasedAt: Instant });

const SCHEMAS = {
  DEVICE_ENROLLED: DeviceEnrolled,
  DEVICE_CONNECTED: DeviceConnected,
  DEVICE_SUSPECT: DeviceSuspect,
  DEVICE_LOST: DeviceLost,
  DEVICE_HELD: DeviceHeld,
  DEVICE_RELEASED: DeviceReleased,
} as const;

export type FleetEventType = keyof typeof SCHEMAS;
export const FLEET_EVENT_TYPES = Object.keys(SCHEMAS) as FleetEventType[];

const recorded = <T extends FleetEventType>(type: T) =>
  z.strictObject({ ...eventEnvelope, type: z.literal(type), data: SCHEMAS[type] });

export const RecordedFleetEvent = z.discriminatedUnion('type', [
  recorded('DEVICE_ENROLLED'),
  recorded('DEVICE_CONNECTED'),
  recorded('DEVICE_SUSPECT'),
  recorded('DEVICE_LOST'),
  recorded('DEVICE_HELD'),
  recorded('DEVICE_RELEASED'),
]);
export type RecordedFleetEvent = z.infer<typeof RecordedFleetEvent>;

export type FleetEvent = {
  [T in FleetEventType]: { type: T; data: z.infer<(typeof SCHEMAS)[T]> };
}[FleetEventType];

/** One message of `orrery.fleet.<deviceId>`. */
export const FleetCommit = z.strictObject({
  ...commitShape,
  deviceId: DeviceId,
  events: z.array(RecordedFleetEvent).min(1),
});
export type FleetCommit = z.infer<typeof FleetCommit>;
