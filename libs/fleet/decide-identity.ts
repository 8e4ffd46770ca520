import type {
  AgentProfile,
  Actor,
  AdminProfile,
  DeviceId,
  DeviceKey,
  FleetEvent,
  Instant,
  Revocation,
  ServiceManifest,
} from '#proto';
import type { Client } from './client.js';
import type { FleetDecision } from './decide.js';
import type { Device } from './device.js';
import { decideGiven, NOTHING_GIVEN, type GivenChange } from './given.js';

/** What is known of an id: nobody's yet, a device's, or a client's. */
export interface Bearer {
  readonly device: Device | undefined;
  readonly client: Client | undefined;
}

/** Only hashes of tokens are ever recorded. */
export type NewCredential =
  | { readonly kind: 'token'; readonly tokenHash: string }
  | { readonly kind: 'join'; readonly tokenHash: string; readonly expiresAt: number };

export interface Enrolment {
  readonly admin: AdminProfile | undefined;
  readonly manifest: ServiceManifest | undefined;
  readonly credential: NewCredential;
  /** What the administrator says of it besides; absent: nothing new. */
  readonly given?: Pick<GivenChange, 'set' | 'by'> | undefined;
  /** Milliseconds since the epoch, like every `now` here. */
  readonly now: number;
}

const NO_ADMIN: AdminProfile = { tags: [], capabilities: [] };
const LINUX_AGENT: ServiceManifest = { agent: 'LinuxAgent', capabilities: [] };

/** Enrolling a known device is for its next credential; what is not given again stays as it was. */
export function decideEnrolment({ device, client }: Bearer, enrolment: Enrolment): FleetDecision {
  if (client !== undefined) return { kind: 'rejected', reason: 'IS_CLIENT' };
  const { credential, now } = enrolment;
  const admin = enrolment.admin ?? device?.admin ?? NO_ADMIN;
  const manifest = enrolment.manifest ?? device?.manifest ?? LINUX_AGENT;
  const data = { admin, manifest, ...credentialData(device, credential), enrolledAt: instant(now) };
  const enrolled: FleetEvent = { type: 'DEVICE_ENROLLED', data };
  if (enrolment.given === undefined) return accepted(enrolled);
  const said = decideGiven(device?.given ?? NOTHING_GIVEN, { ...enrolment.given, unset: [], now });
  if (said.kind === 'refused') return { kind: 'rejected', reason: 'PROFILE_REFUSED', given: said.reason };
  return said.kind === 'same' ? accepted(enrolled) : { kind: 'accepted', events: [enrolled, said.event] };
}

export interface ProfileOrder extends Omit<GivenChange, 'commandId'> {
  readonly commandId: string;
}

/** What the administrator says of a device that is enrolled. */
export function decideProfile(device: Device | undefined, order: ProfileOrder): FleetDecision {
  if (device === undefined) return { kind: 'ignored', reason: 'NOT_ENROLLED' };
  const said = decideGiven(device.given, order);
  if (said.kind === 'refused') return { kind: 'rejected', reason: 'PROFILE_REFUSED', given: said.reason };
  if (said.kind === 'changed') return accepted(said.event);
  return { kind: 'ignored', reason: said.changed ? 'ALREADY_DONE' : 'ALREADY_SAID' };
}

/** A static token counts from now on. A join token has to be used first: until then the device stays with what it has. */
function credentialData(
  device: Device | undefined,
  credential: NewCredential,
): { credentialHash: string | null; join?: { tokenHash: string; expiresAt: Instant } } {
  const { tokenHash } = credential;
  if (credential.kind === 'token') return { credentialHash: tokenHash };
  const join = { tokenHash, expiresAt: instant(credential.expiresAt) };
  return { credentialHash: device?.credentialHash ?? null, join };
}

export interface Joining {
  readonly tokenHash: string;
  /** Proven: the device that joins can sign with it. */
  readonly publicKey: DeviceKey;
  readonly now: number;
}

/** A join token works once. The key that used it may say so again, whenever: the answer to it may have been lost. */
export function decideJoin(device: Device | undefined, { tokenHash, publicKey, now }: Joining): FleetDecision {
  if (device?.key?.tokenHash === tokenHash) {
    return device.key.publicKey === publicKey
      ? { kind: 'ignored', reason: 'ALREADY_JOINED' }
      : { kind: 'rejected', reason: 'TOKEN_USED' };
  }
  if (device?.join?.tokenHash !== tokenHash) return { kind: 'rejected', reason: 'TOKEN_UNKNOWN' };
  if (Date.parse(device.join.expiresAt) <= now) return { kind: 'rejected', reason: 'TOKEN_EXPIRED' };
  return accepted({ type: 'DEVICE_JOINED', data: { tokenHash, publicKey, joinedAt: instant(now) } });
}

interface ClientEnrolment {
  readonly targets: DeviceId[] | null;
  readonly tokenHash: string;
  readonly now: number;
}

/** Enrolling a known client replaces its token and its targets. */
export function decideClientEnrolment({ device }: Bearer, { targets, tokenHash, now }: ClientEnrolment): FleetDecision {
  if (device !== undefined) return { kind: 'rejected', reason: 'IS_DEVICE' };
  const data = { role: 'constellation', targets, credentialHash: tokenHash, enrolledAt: instant(now) } as const;
  return accepted({ type: 'CLIENT_ENROLLED', data });
}

interface RevocationOrder {
  /** Proven. */
  readonly by: Actor;
  /** For people; empty when nothing was said. */
  readonly reason: string;
  readonly now: number;
}

/** The first revocation stands; one after a new enrolment ends that one, too, also while nobody has joined with it. */
export function decideRevocation({ device, client }: Bearer, { by, reason, now }: RevocationOrder): FleetDecision {
  const data: Revocation = { by, reason, revokedAt: instant(now) };
  if (device !== undefined) {
    return device.revoked !== null && device.join === null
      ? { kind: 'ignored', reason: 'ALREADY_REVOKED' }
      : accepted({ type: 'DEVICE_REVOKED', data });
  }
  if (client === undefined) return { kind: 'ignored', reason: 'NOT_ENROLLED' };
  return client.revoked !== null
    ? { kind: 'ignored', reason: 'ALREADY_REVOKED' }
    : accepted({ type: 'CLIENT_REVOKED', data });
}

function accepted(event: FleetEvent): FleetDecision {
  return { kind: 'accepted', events: [event] };
}

function instant(ms: number): Instant {
  return new Date(ms).toISOString();
}

/** A person has revoked it, and has not enrolled it since: a launcher of devices leaves it out. */
export function isKeptOut(profile: AgentProfile | undefined): boolean {
  const { revoked = null, enrolledAt = '' } = profile ?? {};
  return revoked !== null && Date.parse(enrolledAt) <= Date.parse(revoked.revokedAt);
}
