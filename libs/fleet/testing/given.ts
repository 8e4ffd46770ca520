import { GENESIS_HASH } from '#proto';
import type {
  Actor,
  AdminProfile,
  ClientTelemetry,
  DeviceHold,
  FleetEvent,
  Presence,
  RecordedFleetEvent,
  Revocation,
} from '#proto';
import { evolveClient, type Client } from '../client.js';
import { evolveDevice, type Device } from '../device.js';

/** Facts and inputs that the tests of this service tell their stories with. */
export const DEVICE_ID = 'web-1';
export const CLIENT_ID = 'planner-1';
export const T0 = Date.parse('2026-11-20T12:00:00.000Z');
export const GRACE_MS = 60_000;

export const at = (ms: number): string => new Date(T0 + ms).toISOString();

export const telemetry = (changes: Partial<ClientTelemetry> = {}): ClientTelemetry => ({
  platform: 'linux',
  osVersion: '12',
  hostname: 'web-1.example.org',
  arch: 'x64',
  cpuCount: 4,
  memoryMb: 8_192,
  capabilities: ['cli'],
  tools: [{ name: 'EXEC_CLI', description: 'runs a command', readOnly: false }],
  metadata: {},
  ...changes,
});

export const presence = (sessionId: string, changes: Partial<Presence> = {}): Presence => ({
  deviceId: DEVICE_ID,
  sessionId,
  gateway: 'gateway-1',
  journalId: 'journal-1',
  connectedAt: at(0),
  telemetry: telemetry(),
  ...changes,
});

export const enrolled = (admin: Partial<AdminProfile> = {}, credentialHash = GENESIS_HASH): FleetEvent => ({
  type: 'DEVICE_ENROLLED',
  data: {
    admin: { tags: [], capabilities: [], ...admin },
    manifest: { agent: 'LinuxAgent', capabilities: [] },
    credentialHash,
    enrolledAt: at(0),
  },
});

export const connected = (sessionId: string): FleetEvent => {
  const { deviceId: _, telemetry: said, ...session } = presence(sessionId);
  return { type: 'DEVICE_CONNECTED', data: { session, telemetry: said } };
};

export const toolsChanged = (sessionId: string, tools: ClientTelemetry['tools']): FleetEvent => ({
  type: 'DEVICE_TOOLS_CHANGED',
  data: { sessionId, tools },
});

export const suspect = (sessionId: string, from = 0): FleetEvent => ({
  type: 'DEVICE_SUSPECT',
  data: { sessionId, suspectAt: at(from), lostAt: at(from + GRACE_MS) },
});

export const lost = (sessionId: string, from = GRACE_MS): FleetEvent => ({
  type: 'DEVICE_LOST',
  data: { sessionId, lostAt: at(from) },
});

export const ANNA: Actor = { kind: 'person', id: 'anna' };
export const HELD: DeviceHold = { by: ANNA, reason: 'new disks', heldAt: at(0) };

export const held = (changes: Partial<DeviceHold> = {}): FleetEvent => ({
  type: 'DEVICE_HELD',
  data: { ...HELD, ...changes },
});

export const released = (by: Actor = ANNA): FleetEvent => ({
  type: 'DEVICE_RELEASED',
  data: { by, releasedAt: at(0) },
});

export const JOIN_HASH = 'e'.repeat(64);
export const KEY = `${'K'.repeat(42)}A`;
export const OTHER_KEY = `${'L'.repeat(42)}A`;

/** Enrolled with a join token that is good for a minute from T0; `credentialHash`: the static token that goes on till then. */
export const invited = (tokenHash = JOIN_HASH, credentialHash: string | null = null): FleetEvent => ({
  type: 'DEVICE_ENROLLED',
  data: {
    admin: { tags: [], capabilities: [] },
    manifest: { agent: 'LinuxAgent', capabilities: [] },
    credentialHash,
    join: { tokenHash, expiresAt: at(60_000) },
    enrolledAt: at(0),
  },
});

export const joined = (publicKey = KEY, tokenHash = JOIN_HASH): FleetEvent => ({
  type: 'DEVICE_JOINED',
  data: { tokenHash, publicKey, joinedAt: at(0) },
});

export const REVOKED: Revocation = { by: ANNA, reason: 'stolen', revokedAt: at(0) };
export const revoked = (): FleetEvent => ({ type: 'DEVICE_REVOKED', data: REVOKED });
export const clientRevoked = (): FleetEvent => ({ type: 'CLIENT_REVOKED', data: REVOKED });

export const clientEnrolled = (credentialHash = GENESIS_HASH, targets: string[] | null = null): FleetEvent => ({
  type: 'CLIENT_ENROLLED',
  data: { role: 'constellation', targets, credentialHash, enrolledAt: at(0) },
});

/** The device after these facts, one second apart. */
export function given(...events: FleetEvent[]): Device | undefined {
  return recorded(events).reduce<Device | undefined>(
    (device, event, index) => evolveDevice(device, event, { deviceId: DEVICE_ID, at: at(index * 1_000) }),
    undefined,
  );
}

/** The device after one more fact, `ms` after T0. */
export function givenLater(device: Device | undefined, { event, ms }: { event: FleetEvent; ms: number }): Device {
  const sequence = (device?.revision ?? 0) + 1;
  const one: RecordedFleetEvent = { id: `event.${sequence}`, sequence, schemaVersion: 1, ...event };
  return evolveDevice(device, one, { deviceId: DEVICE_ID, at: at(ms) });
}

/** The same for a client. */
export function givenClient(...events: FleetEvent[]): Client | undefined {
  return recorded(events).reduce<Client | undefined>(
    (client, event, index) => evolveClient(client, event, { deviceId: CLIENT_ID, at: at(index * 1_000) }),
    undefined,
  );
}

function recorded(events: readonly FleetEvent[]): RecordedFleetEvent[] {
  return events.map((event, index) => ({ id: `event.${index}`, sequence: index + 1, schemaVersion: 1, ...event }));
}
