import {
  sameJson,
  type AdminProfile,
  type ClientTelemetry,
  type DeviceHold,
  type DeviceId,
  type DeviceKey,
  type DeviceSession,
  type DeviceStatus,
  type FleetCommit,
  type FleetEvent,
  type Instant,
  type Presence,
  type RecordedFleetEvent,
  type Revocation,
  type ServiceManifest,
  type SessionId,
} from '#proto';

import { evolveGiven, NOTHING_GIVEN, type GivenProfile } from './given.js';

type DeviceEnrolled = Extract<FleetEvent, { type: 'DEVICE_ENROLLED' }>['data'];

/*
 *            DEVICE_ENROLLED          DEVICE_CONNECTED          DEVICE_SUSPECT              DEVICE_LOST
 * (unknown) ----------------> offline ----------------> connected -------------> suspect ----------------> lost
 *                                                           ^                       |                        |
 *                                                           +----------- DEVICE_CONNECTED -------------------+
 * A connected device that connects again has a new session; with DEVICE_TOOLS_CHANGED and
 * DEVICE_CONTENDED it keeps its session and its status. Enrolling again changes the credential, never the status.
 * DEVICE_PROFILE_CHANGED says what it is, in the words of an administrator, whatever its status is.
 * DEVICE_HELD and DEVICE_RELEASED go beside all of it: a device is held by an operator, whatever its status is; of its
 * screen, libs/fleet/take-over says more.
 *
 * Beside all of it, too, is how its client proves who it is:
 *
 *   DEVICE_ENROLLED with a token   that token alone, from now on
 *   DEVICE_ENROLLED to join        as before, until DEVICE_JOINED: then the key of the holder of the join token alone
 *   DEVICE_REVOKED                 by nothing; a new enrolment has to be made use of before anybody is the device again
 */

/** One device, folded from its subject in FLEET. */
export interface Device {
  readonly deviceId: DeviceId;
  readonly status: DeviceStatus;
  readonly admin: AdminProfile;
  readonly manifest: ServiceManifest;
  /** What the administrator has said of it by name. */
  readonly given: GivenProfile;
  /** SHA-256 of its static token; null when it has none. */
  readonly credentialHash: string | null;
  /** The key of its client, and the join token that it came with; null when it has none. */
  readonly key: { readonly publicKey: DeviceKey; readonly tokenHash: string } | null;
  /** The join token that nobody has used yet; it may be over. */
  readonly join: { readonly tokenHash: string; readonly expiresAt: Instant } | null;
  readonly revoked: Revocation | null;
  readonly enrolledAt: Instant;
  /** Of the last connection; null before the first. */
  readonly session: DeviceSession | null;
  readonly telemetry: ClientTelemetry | null;
  /** While suspect: when the grace is over. */
  readonly lostAt: Instant | null;
  /** Every connection, change of tools and contest that is recorded takes its share of time; up to then all shares are used. Milliseconds since the epoch. */
  readonly connectedUpToMs: number;
  /** When several clients were seen last to take it from each other; null: not since it was enrolled. */
  readonly contendedAt: Instant | null;
  /** When its last connection began, or ended; null before the first. */
  readonly lastSeenAt: Instant | null;
  /** Its own hold; the whole fleet may be held besides. */
  readonly held: DeviceHold | null;
  /** Who has taken its screen over. */
  readonly taken: DeviceHold | null;
  /** When its screen was handed back last; null: never. */
  readonly handedBackAt: Instant | null;
  /** Sequence of the last event that is folded in. */
  readonly revision: number;
  readonly changedAt: Instant;
}

/** Folds one recorded fact; total over FleetEvent, without a clock. `at` is the time of its commit. */
export function evolveDevice(device: Device | undefined, event: RecordedFleetEvent, at: EventContext): Device {
  const stamp = { revision: event.sequence, changedAt: at.at };
  if (event.type === 'DEVICE_ENROLLED') return enrolled(device ?? fresh(at.deviceId), event.data, stamp);
  // Facts about a device begin with its enrolment: a log without it is damaged, and guessing would hide that.
  if (device === undefined) throw new Error(`${event.type} of ${at.deviceId} comes before DEVICE_ENROLLED`);
  switch (event.type) {
    case 'DEVICE_CONNECTED': {
      const { session, telemetry } = event.data;
      const connectedUpToMs = shareTaken(device, at);
      const lastSeenAt = session.connectedAt;
      return {
        ...device,
        ...stamp,
        status: 'connected',
        session,
        telemetry,
        lastSeenAt,
        lostAt: null,
        connectedUpToMs,
      };
    }
    case 'DEVICE_TOOLS_CHANGED': {
      const telemetry = device.telemetry && { ...device.telemetry, tools: event.data.tools };
      return { ...device, ...stamp, telemetry, connectedUpToMs: shareTaken(device, at) };
    }
    case 'DEVICE_PROFILE_CHANGED':
      return { ...device, ...stamp, given: evolveGiven(device.given, event) };
    case 'DEVICE_CONTENDED': {
      const { contendedAt } = event.data;
      return { ...device, ...stamp, contendedAt, connectedUpToMs: shareTaken(device, at) };
    }
    case 'DEVICE_SUSPECT':
      return { ...device, ...stamp, status: 'suspect', lostAt: event.data.lostAt, lastSeenAt: event.data.suspectAt };
    case 'DEVICE_LOST':
      return { ...device, ...stamp, status: 'lost', lostAt: null };
    case 'DEVICE_HELD':
      return { ...device, ...stamp, [event.data.screen === true ? 'taken' : 'held']: event.data };
    case 'DEVICE_RELEASED':
      if (event.data.screen !== true) return { ...device, ...stamp, held: null };
      return { ...device, ...stamp, taken: null, handedBackAt: event.data.releasedAt };
    case 'DEVICE_JOINED': {
      const { publicKey, tokenHash } = event.data;
      return { ...device, ...stamp, ...NO_CREDENTIAL, key: { publicKey, tokenHash }, revoked: null };
    }
    case 'DEVICE_REVOKED':
      return { ...device, ...stamp, ...NO_CREDENTIAL, revoked: event.data };
    case 'CLIENT_ENROLLED':
    case 'CLIENT_REVOKED':
    case 'GRANTS_REVOKED':
      throw new Error(`${event.type} cannot be said of the device ${at.deviceId}`);
    default:
      return event satisfies never;
  }
}

/** In the long run a device has no more connections on record than one in this time. */
export const CONNECTION_SHARE_MS = 30_000;
/** Connections in a row that are recorded at once: a network that comes and goes, a device that is worked on. */
export const CONNECTIONS_AT_ONCE_MAX = 60;

function shareTaken(device: Device, { at }: EventContext): number {
  const atMs = Date.parse(at);
  return atMs + connectionsAheadMs(device, atMs) + CONNECTION_SHARE_MS;
}

/** How much of the time to come the recorded connections have used already. More than they can was told by another clock. */
export function connectionsAheadMs({ connectedUpToMs }: Device, nowMs: number): number {
  const aheadMs = connectedUpToMs - nowMs;
  return aheadMs > (CONNECTIONS_AT_ONCE_MAX + 1) * CONNECTION_SHARE_MS ? 0 : Math.max(0, aheadMs);
}

export interface EventContext {
  readonly deviceId: DeviceId;
  readonly at: Instant;
}

const NO_CREDENTIAL = { credentialHash: null, key: null, join: null } as const;

function enrolled(device: Fresh, data: DeviceEnrolled, stamp: Pick<Device, 'revision' | 'changedAt'>): Device {
  const { join = null, ...granted } = data;
  // What it has goes on until the join token is used; a static token is in force at once, and ends everything else.
  const credentials = join === null ? { key: null, join, revoked: null } : { join };
  return { ...device, ...granted, ...credentials, ...stamp, contendedAt: null };
}

/** Folds a stored commit. */
export function evolveDeviceCommit(device: Device | undefined, commit: FleetCommit): Device | undefined {
  return commit.events.reduce<Device | undefined>((before, event) => evolveDevice(before, event, commit), device);
}

/** Folds a stored commit of the whole fleet: it can be held and released, and nothing else can be said of it. */
export function evolveFleetHold(held: DeviceHold | null, commit: FleetCommit): DeviceHold | null {
  let now = held;
  for (const event of commit.events) {
    if (event.type === 'DEVICE_HELD') now = event.data;
    else if (event.type === 'DEVICE_RELEASED') now = null;
    else throw new Error(`${event.type} cannot be said of the whole fleet`);
  }
  return now;
}

/** How the client of a device proves who it is. */
export function credentialKind({ key, credentialHash }: Device): 'key' | 'token' | null {
  if (key !== null) return 'key';
  return credentialHash === null ? null : 'token';
}

/** Whether the log says of the device what its presence says; how it is doing apart. */
export function isRecorded(device: Device | undefined, presence: Presence): boolean {
  if (device === undefined || liveSession(device) !== presence.sessionId) return false;
  return hasSameTools(device, presence) && hasSameContest(device, presence);
}

/** What one of our devices says of itself anew goes into the log when it connects. */
export function hasSameTools(device: Device, { journalId, telemetry }: Presence): boolean {
  return journalId !== null || sameJson(telemetry.tools, device.telemetry?.tools);
}

function hasSameContest(device: Device, { contendedAt }: Presence): boolean {
  return contendedAt === undefined || contendedAt === device.contendedAt;
}

/** The session a device was last known by, while it counts as there. */
export function liveSession(device: Device): SessionId | undefined {
  return device.status === 'connected' ? device.session?.sessionId : undefined;
}

type Fresh = Omit<Device, 'admin' | 'manifest' | 'credentialHash' | 'enrolledAt' | 'revision' | 'changedAt'>;

function fresh(deviceId: DeviceId): Fresh {
  const unconnected = {
    status: 'offline',
    session: null,
    telemetry: null,
    lostAt: null,
    connectedUpToMs: 0,
    contendedAt: null,
    lastSeenAt: null,
    given: NOTHING_GIVEN,
    taken: null,
    handedBackAt: null,
  } as const;
  return { deviceId, ...unconnected, held: null, key: null, join: null, revoked: null };
}
