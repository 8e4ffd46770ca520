import type {
  AdminProfile,
  ClientTelemetry,
  DeviceHold,
  DeviceId,
  DeviceSession,
  DeviceStatus,
  FleetCommit,
  Instant,
  RecordedFleetEvent,
  ServiceManifest,
  SessionId,
} from '#proto';

/*
 *            DEVICE_ENROLLED          DEVICE_CONNECTED          DEVICE_SUSPECT              DEVICE_LOST
 * (unknown) ----------------> offline ----------------> connected -------------> suspect ----------------> lost
 *                                                           ^                       |                        |
 *                                                           +----------- DEVICE_CONNECTED -------------------+
 * A connected device that connects again has a new session. Enrolling again changes the credential, never the status.
 * DEVICE_HELD and DEVICE_RELEASED go beside all of it: a device is held by an operator, whatever its status is.
 */

/** One device, folded from its subject in FLEET. */
export interface Device {
  readonly deviceId: DeviceId;
  readonly status: DeviceStatus;
  readonly admin: AdminProfile;
  readonly manifest: ServiceManifest;
  readonly credentialHash: string;
  readonly enrolledAt: Instant;
  /** Of the last connection; null before the first. */
  readonly session: DeviceSession | null;
  readonly telemetry: ClientTelemetry | null;
  /** While suspect: when the grace is over. */
  readonly lostAt: Instant | null;
  /** Its own hold; the whole fleet may be held besides. */
  readonly held: DeviceHold | null;
  /** Sequence of the last event that is folded in. */
  readonly revision: number;
  readonly changedAt: Instant;
}

/** Folds one recorded fact; total over FleetEvent, without a clock. `at` is the time of its commit. */
export function evolveDevice(device: Device | undefined, event: RecordedFleetEvent, at: EventContext): Device {
  const stamp = { revision: event.sequence, changedAt: at.at };
  if (event.type === 'DEVICE_ENROLLED') {
    return { ...(device ?? fresh(at.deviceId)), ...event.data, ...stamp };
  }
  // Facts about a device begin with its enrolment: a log without it is damaged, and guessing would hide that.
  if (device === undefined) throw new Error(`${event.type} of ${at.deviceId} comes before DEVICE_ENROLLED`);
  switch (event.type) {
    case 'DEVICE_CONNECTED': {
      const { session, telemetry } = event.data;
      return { ...device, ...stamp, status: 'connected', session, telemetry, lostAt: null };
    }
    case 'DEVICE_SUSPECT':
      return { ...device, ...stamp, status: 'suspect', lostAt: event.data.lostAt };
    case 'DEVICE_LOST':
      return { ...device, ...stamp, status: 'lost', lostAt: null };
    case 'DEVICE_HELD':
      return { ...device, ...stamp, held: event.data };
    case 'DEVICE_RELEASED':
      return { ...device, ...stamp, held: null };
    default:
      return event satisfies never;
  }
}

export interface EventContext {
  readonly deviceId: DeviceId;
  readonly at: Instant;
}

/** Folds a stored commit. */
export function evolveCommit(device: Device | undefined, commit: FleetCommit): Device | undefined {
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

/** The session a device was last known by, while it counts as there. */
export function liveSession(device: Device): SessionId | undefined {
  return device.status === 'connected' ? device.session?.sessionId : undefined;
}

function fresh(deviceId: DeviceId): Pick<Device, 'deviceId' | 'status' | 'session' | 'telemetry' | 'lostAt' | 'held'> {
  return { deviceId, status: 'offline', session: null, telemetry: null, lostAt: null, held: null };
}
