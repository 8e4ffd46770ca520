import { z } from 'zod';
import { Actor } from './actors.js';
import { GivenValue, GpuInfo, ProfileKey } from './device-profile.js';
import { DeviceId, Instant, JournalId, Json, SessionId } from './ids.js';

export const ToolInfo = z.strictObject({
  name: z.string().min(1).max(128),
  description: z.string().max(4_000).default(''),
  /** Declared by the tool's server (`annotations.readOnlyHint`): running it twice harms nobody. */
  readOnly: z.boolean().default(false),
  /** JSON Schema of its arguments, and what it says of its answer. */
  inputSchema: z.record(z.string(), Json).optional(),
  returns: z.string().max(1_000).optional(),
});
export type ToolInfo = z.infer<typeof ToolInfo>;

/** What a device client says of itself when it registers; hostile input like everything from a device. */
export const ClientTelemetry = z.strictObject({
  platform: z.string().max(64),
  osVersion: z.string().max(256).default(''),
  hostname: z.string().max(256).default(''),
  arch: z.string().max(64).default(''),
  cpuCount: z.int().min(0).default(0),
  memoryMb: z.int().min(0).default(0),
  capabilities: z.array(z.string().max(64)).max(64).default([]),
  tools: z.array(ToolInfo).max(1_000).default([]),
  metadata: z.record(z.string().max(64), Json).default({}),
});
export type ClientTelemetry = z.infer<typeof ClientTelemetry>;

/** `DeviceWall.kind` where nothing makes a wall: judged commands run with the rights of the client. */
export const NO_WALL = 'none';

/**
 * What makes the wall around judged commands on a device, and what of the machine it can show them. Both are
 * words of its client, which may be a later one.
 */
export const DeviceWall = z.strictObject({
  kind: z.string().min(1).max(64),
  views: z.array(z.string().min(1).max(64)).max(16),
  /** The user whose the processes behind it are. */
  runsAs: z.string().min(1).max(64).optional(),
});
export type DeviceWall = z.infer<typeof DeviceWall>;

/** How a device is doing, as it says every now and then: a view, never a fact in a log. */
export const DeviceMetrics = z.strictObject({
  /** Processes that wanted to run, averaged over the last minute. */
  load1: z.number().min(0).max(1e6),
  memoryFreeMb: z.int().min(0),
  /** Free space where the device's own data lies. */
  diskFreeMb: z.int().min(0),
  gpus: z
    .array(
      z.strictObject({
        name: z.string().max(128),
        memoryMb: z.int().min(0),
        memoryFreeMb: z.int().min(0),
        /** 0 to 1. */
        utilisation: z.number().min(0).max(1),
      }),
    )
    .max(32)
    .default([]),
});
export type DeviceMetrics = z.infer<typeof DeviceMetrics>;

/** Metrics with the gateway's time of their receipt. */
export const MeasuredMetrics = z.strictObject({ ...DeviceMetrics.shape, at: Instant });
export type MeasuredMetrics = z.infer<typeof MeasuredMetrics>;

/** The administrator's part of a profile; it wins over everything a device says. */
export const AdminProfile = z.strictObject({
  tags: z.array(z.string().min(1).max(64)).max(32).default([]),
  capabilities: z.array(z.string().min(1).max(64)).max(32).default([]),
  /** Tasks at once on this device. */
  tasksMax: z.int().min(1).max(1_000).optional(),
  os: z.string().max(64).optional(),
});
export type AdminProfile = z.infer<typeof AdminProfile>;

/** What the kind of device brings by itself (the manifest of its service), below the administrator and above telemetry. */
export const ServiceManifest = z.strictObject({
  agent: z.string().max(64).default('LinuxAgent'),
  capabilities: z.array(z.string().min(1).max(64)).max(32).default([]),
  tasksMax: z.int().min(1).max(1_000).optional(),
});
export type ServiceManifest = z.infer<typeof ServiceManifest>;

/** `suspect`: the presence vanished and the grace period runs; `lost`: it is over; `offline`: enrolled, never connected yet. */
export const DeviceStatus = z.enum(['offline', 'connected', 'suspect', 'lost']);
export type DeviceStatus = z.infer<typeof DeviceStatus>;

export const DeviceSession = z.strictObject({
  sessionId: SessionId,
  gateway: z.string(),
  /** Null for foreign clients, which keep no journal. */
  journalId: JournalId.nullable(),
  connectedAt: Instant,
});
export type DeviceSession = z.infer<typeof DeviceSession>;

/** An operator's word that nothing new starts on a device; what runs goes on. */
export const DeviceHold = z.strictObject({
  by: Actor,
  reason: z.string().max(1_000),
  heldAt: Instant,
  /** Who holds it has taken its screen over: no agent looks at it or acts on it until it is handed back. */
  screen: z.literal(true).optional(),
});
export type DeviceHold = z.infer<typeof DeviceHold>;

/** An administrator's word that the credentials of a device or client count no more. */
export const Revocation = z.strictObject({ by: Actor, reason: z.string().max(1_000), revokedAt: Instant });
export type Revocation = z.infer<typeof Revocation>;

/** AgentProfile (paper section 5): one device as the scheduler sees it, merged from administrator, manifest and telemetry. */
export const AgentProfile = z.strictObject({
  deviceId: DeviceId,
  status: DeviceStatus,
  agent: z.string(),
  os: z.string(),
  arch: z.string(),
  hostname: z.string(),
  capabilities: z.array(z.string()),
  tags: z.array(z.string()),
  tools: z.array(ToolInfo),
  resources: z.strictObject({ cpuCount: z.int(), memoryMb: z.int() }),
  tasksMax: z.int().min(1),
  /** What the administrator has given; it wins over everything below. Absent: nothing. */
  given: z.record(ProfileKey, GivenValue).optional(),
  /** Sequence of the event that changed it last. */
  givenRevision: z.int().min(1).optional(),
  /** Graphics cards as its client found them; absent: it does not say, which is not that there are none. */
  gpus: z.array(GpuInfo).max(32).optional(),
  /** Size of the disk that has its data, as its client said. */
  diskMb: z.int().min(0).optional(),
  /** As its client said when it connected last; absent: it said nothing of it. */
  wall: DeviceWall.optional(),
  /** The release of its client, as that said; absent: it did not. */
  client: z.string().min(1).max(128).optional(),
  /** What else its client says of itself, in words; as much of it as fits into a table. */
  metadata: z.record(z.string(), z.string()).optional(),
  /** Nothing new starts on it: it, or the whole fleet, was held by somebody. */
  held: DeviceHold.nullable().default(null),
  /** Who has taken its screen over; absent: nobody. */
  taken: DeviceHold.optional(),
  /** When a person has handed its screen back last: what was listed on it before counts no more. */
  handedBackAt: Instant.optional(),
  /** Its credentials count no more, and it is nobody's device until it is enrolled and joins again. */
  revoked: Revocation.nullable().optional(),
  /** How its client proves who it is; null while it has not joined yet. */
  credential: z.enum(['token', 'key']).nullable().optional(),
  /** The newest that are known; written anew only when they have changed enough to matter. */
  metrics: MeasuredMetrics.nullable().optional(),
  /** When several clients were seen last to take the device from each other; absent: never since it was enrolled. */
  contendedAt: Instant.optional(),
  /** When its last connection began, or ended as far as the log knows; absent: there was none. A connected one is there now. */
  lastSeenAt: Instant.optional(),
  /** The session of the last connection; null before the first. */
  session: DeviceSession.nullable(),
  /** Sequence of the last FLEET event of this device that is folded in. */
  revision: z.int().min(1),
  enrolledAt: Instant,
  changedAt: Instant,
});
export type AgentProfile = z.infer<typeof AgentProfile>;

/** Value of PRESENCE: written by the gateway that holds the socket, gone within 10 s when that gateway dies. */
export const Presence = z.strictObject({
  ...DeviceSession.shape,
  deviceId: DeviceId,
  telemetry: ClientTelemetry,
  metrics: MeasuredMetrics.optional(),
  /** When several clients were seen last to take the device from each other; absent: not in this session. */
  contendedAt: Instant.optional(),
});
export type Presence = z.infer<typeof Presence>;
