import type { Actor, DeviceHold, FleetEvent, Presence } from '#proto';
import {
  CONNECTION_SHARE_MS,
  connectionsAheadMs,
  CONNECTIONS_AT_ONCE_MAX,
  hasSameTools,
  isRecorded,
  liveSession,
  type Device,
} from './device.js';

import type { GivenRefusal } from './given.js';

export type FleetDecision =
  | { readonly kind: 'accepted'; readonly events: readonly [FleetEvent, ...FleetEvent[]] }
  | { readonly kind: 'ignored'; readonly reason: IgnoredReason }
  | { readonly kind: 'rejected'; readonly reason: RejectedReason }
  | { readonly kind: 'rejected'; readonly reason: 'PROFILE_REFUSED'; readonly given: GivenRefusal };

type IgnoredReason =
  | 'NOT_ENROLLED'
  | 'SAME_SESSION'
  | 'ALREADY_ABSENT'
  | 'STILL_IN_GRACE'
  /** To be looked at again: its next renewal is a reason to. */
  | 'TOO_OFTEN'
  | 'FOREIGN_PRESENCE'
  | 'ALREADY_HELD'
  | 'NOT_HELD'
  | 'ALREADY_REVOKED'
  /** Its profile says so. */
  | 'ALREADY_SAID'
  /** By this very command. */
  | 'ALREADY_DONE'
  /** With this token, by this key. */
  | 'ALREADY_JOINED';

export type RejectedReason =
  /** The id is a client's. */
  | 'IS_CLIENT'
  /** The id is a device's. */
  | 'IS_DEVICE'
  | 'TOKEN_USED'
  | 'TOKEN_EXPIRED'
  | 'TOKEN_UNKNOWN'
  /** None of its tools acts on a screen. */
  | 'NO_SCREEN'
  /** Somebody has revoked as many single grants as anybody may in a day. */
  | 'TOO_MANY_GRANTS';

interface Now {
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly graceMs: number;
}

/**
 * What follows from looking at a device's presence now, whatever made us look: a change of the bucket, a due timer, a
 * restart. A presence that has not changed says nothing, so looking twice, or from two replicas, decides once.
 */
export function decidePresence(device: Device | undefined, presence: Presence | undefined, now: Now): FleetDecision {
  if (device === undefined) return { kind: 'ignored', reason: 'NOT_ENROLLED' };
  return presence === undefined ? decideAbsent(device, now) : decidePresent(device, presence, now);
}

/** The log keeps what is written for ever: a device that connects again and again, or changes its tools, gets into it at a measured pace only. */
function decidePresent(device: Device, presence: Presence, { now }: Now): FleetDecision {
  // Metrics are no facts: they come with every renewal and stay out of the log.
  const { deviceId, telemetry, metrics: _, contendedAt: _later, ...session } = presence;
  if (deviceId !== device.deviceId) return { kind: 'ignored', reason: 'FOREIGN_PRESENCE' };
  if (isRecorded(device, presence)) return { kind: 'ignored', reason: 'SAME_SESSION' };
  if (connectionsAheadMs(device, now) > (CONNECTIONS_AT_ONCE_MAX - 1) * CONNECTION_SHARE_MS) {
    return { kind: 'ignored', reason: 'TOO_OFTEN' };
  }
  const news = session.sessionId === liveSession(device) ? newsOf(device, presence) : undefined;
  return { kind: 'accepted', events: [news ?? { type: 'DEVICE_CONNECTED', data: { session, telemetry } }] };
}

/** What is new within a session, one at a time: the next look finds the next. */
function newsOf(device: Device, presence: Presence): FleetEvent | undefined {
  const { sessionId, telemetry, contendedAt } = presence;
  if (!hasSameTools(device, presence)) {
    return { type: 'DEVICE_TOOLS_CHANGED', data: { sessionId, tools: telemetry.tools } };
  }
  return contendedAt === undefined ? undefined : { type: 'DEVICE_CONTENDED', data: { sessionId, contendedAt } };
}

function decideAbsent(device: Device, { now, graceMs }: Now): FleetDecision {
  const sessionId = device.session?.sessionId;
  if (sessionId === undefined || device.status === 'offline' || device.status === 'lost') {
    return { kind: 'ignored', reason: 'ALREADY_ABSENT' };
  }
  const lost: FleetEvent = { type: 'DEVICE_LOST', data: { sessionId, lostAt: instant(now) } };
  if (device.status === 'suspect') {
    const over = device.lostAt !== null && Date.parse(device.lostAt) <= now;
    return over ? { kind: 'accepted', events: [lost] } : { kind: 'ignored', reason: 'STILL_IN_GRACE' };
  }
  const lostAt = instant(now + graceMs);
  const suspect: FleetEvent = { type: 'DEVICE_SUSPECT', data: { sessionId, suspectAt: instant(now), lostAt } };
  return { kind: 'accepted', events: graceMs === 0 ? [suspect, lost] : [suspect] };
}

export interface HoldOrder {
  readonly by: Actor;
  /** For people; empty when nothing was said. */
  readonly reason: string;
  readonly now: number;
}

/** `held`: by whom a device, or the whole fleet, is held by itself; undefined for what is not there. The first hold stands. */
export function decideHold(held: DeviceHold | null | undefined, { by, reason, now }: HoldOrder): FleetDecision {
  if (held === undefined) return { kind: 'ignored', reason: 'NOT_ENROLLED' };
  if (held !== null) return { kind: 'ignored', reason: 'ALREADY_HELD' };
  return { kind: 'accepted', events: [{ type: 'DEVICE_HELD', data: { by, reason, heldAt: instant(now) } }] };
}

/** Every operator may release a device, also one that another operator held. */
export function decideRelease(
  held: DeviceHold | null | undefined,
  { by, now }: Pick<HoldOrder, 'by' | 'now'>,
): FleetDecision {
  if (held === undefined) return { kind: 'ignored', reason: 'NOT_ENROLLED' };
  if (held === null) return { kind: 'ignored', reason: 'NOT_HELD' };
  return { kind: 'accepted', events: [{ type: 'DEVICE_RELEASED', data: { by, releasedAt: instant(now) } }] };
}

/** When the device is to be looked at again because of these events; the timer is armed before they are stored. */
export function wakeUpAfter(events: readonly FleetEvent[]): number | undefined {
  const last = events.at(-1);
  return last?.type === 'DEVICE_SUSPECT' ? Date.parse(last.data.lostAt) : undefined;
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}
