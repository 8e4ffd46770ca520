import { createHash, randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { FLEET_ID } from '#proto';
import type {
  Actor,
  AdminProfile,
  Cause,
  DeviceHold,
  DeviceId,
  FleetCommit,
  FleetEvent,
  Presence,
  Refusal,
  ServiceManifest,
} from '#proto';
import { newCommitId, type FleetLog } from '#libs/event-log';
import { QueryRefusedError, TimerConflictError } from '#libs/messaging';
import type { Clock } from '#libs/platform';
import { decideEnrolment, decideHold, decidePresence, decideRelease, wakeUpAfter, type Decision } from './decide.js';
import type { Device } from './device.js';
import { nextCommit, type FleetState, type LogEnd } from './fleet-state.js';

/** Two replicas see the same change at the same time, so one conflict is normal; more than a few is a bug. */
const CONFLICTS_MAX = 10;
const TOKEN_BYTES = 32;
const DEVICE_ID_BYTES = 10;

export interface FleetPorts {
  readonly log: FleetLog;
  readonly state: FleetState;
  /** Stores a wake-up for a device in place of the one before. */
  readonly timers: { arm(deviceId: DeviceId, at: number): Promise<void>; forget(deviceId: DeviceId): void };
  /** What the bucket says now, read from its leader; throws when it cannot be read or understood. */
  readonly presence: (deviceId: DeviceId) => Promise<Presence | undefined>;
  readonly clock: Clock;
  readonly instance: string;
  readonly graceMs: number;
  readonly logger: Logger;
}

export interface EnrolRequest {
  readonly deviceId?: DeviceId | undefined;
  readonly admin?: AdminProfile | undefined;
  readonly manifest?: ServiceManifest | undefined;
}

const RESERVED: Refusal = {
  code: 'INVALID_REQUEST',
  message: 'The device cannot be enrolled.',
  issues: [{ path: 'deviceId', message: `must be another name: ${FLEET_ID} stands for the whole fleet` }],
};

/** What is decided upon, all of one moment. */
interface Known {
  /** Undefined for who is not enrolled, and for the whole fleet. */
  readonly device: Device | undefined;
  readonly fleetHeld: DeviceHold | null;
  readonly end: LogEnd | undefined;
}

/** The only writer of FLEET: load, decide, append. */
export class FleetHandler {
  private readonly ports: FleetPorts;

  constructor(ports: FleetPorts) {
    this.ports = ports;
  }

  /** Looks at a device and records what follows. `notBefore`: the instant of a due timer, by the server's clock. */
  async look(deviceId: DeviceId, cause: Cause, notBefore = 0): Promise<Decision> {
    const { clock, graceMs, presence } = this.ports;
    return this.decideAndAppend(deviceId, cause, async ({ device }) => {
      // Read after the log: what another replica recorded came from this presence or an older one, never a newer one.
      const seen = device === undefined ? undefined : await presence(deviceId);
      return decidePresence(device, seen, { now: Math.max(clock.now(), notBefore), graceMs });
    });
  }

  /** A timer fired. One that was armed for an older suspicion fires too early: then the device needs another one. */
  async due(deviceId: DeviceId, cause: Cause, at: number): Promise<void> {
    const decision = await this.look(deviceId, cause, at);
    if (decision.kind === 'accepted' || decision.reason !== 'STILL_IN_GRACE') return;
    const lostAt = this.ports.state.get(deviceId)?.device.lostAt;
    if (lostAt === null || lostAt === undefined) return;
    const { timers } = this.ports;
    timers.forget(deviceId);
    // A conflict means that somebody else has armed it just now.
    await timers.arm(deviceId, Date.parse(lostAt)).catch((error: unknown) => {
      if (!(error instanceof TimerConflictError)) throw error;
    });
  }

  /** The token exists in the answer only; the log gets its hash. */
  async enroll(request: EnrolRequest): Promise<{ deviceId: DeviceId; token: string }> {
    if (request.deviceId === FLEET_ID) throw new QueryRefusedError(RESERVED);
    const deviceId = request.deviceId ?? `device-${randomBytes(DEVICE_ID_BYTES).toString('hex')}`;
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const credentialHash = createHash('sha256').update(token).digest('hex');
    const { admin, manifest } = request;
    await this.decideAndAppend(deviceId, this.asked(), async ({ device }) =>
      decideEnrolment(device, { admin, manifest, credentialHash, now: this.ports.clock.now() }),
    );
    return { deviceId, token };
  }

  /** Holds a device, or everything when there is none; `by` is proven. */
  hold(deviceId: DeviceId | null, { by, reason }: { by: Actor; reason: string }): Promise<Decision> {
    return this.decideAndAppend(deviceId ?? FLEET_ID, this.asked(), async ({ device, fleetHeld }) =>
      decideHold(deviceId === null ? fleetHeld : device?.held, { by, reason, now: this.ports.clock.now() }),
    );
  }

  /** The other way round. A device that is released stays held while the whole fleet is. */
  release(deviceId: DeviceId | null, { by }: { by: Actor }): Promise<Decision> {
    return this.decideAndAppend(deviceId ?? FLEET_ID, this.asked(), async ({ device, fleetHeld }) =>
      decideRelease(deviceId === null ? fleetHeld : device?.held, { by, now: this.ports.clock.now() }),
    );
  }

  /** By whom everything is held, as the log says now: another replica may have recorded it a moment ago. */
  async fleetHeld(): Promise<DeviceHold | null> {
    return (await this.load(FLEET_ID)).fleetHeld;
  }

  private asked(): Cause {
    return { kind: 'request', id: newCommitId(this.ports.clock.now()) };
  }

  private async decideAndAppend(
    deviceId: DeviceId,
    cause: Cause,
    decide: (known: Known) => Promise<Decision>,
  ): Promise<Decision> {
    for (let conflicts = 0; conflicts <= CONFLICTS_MAX; conflicts++) {
      const known = await this.load(deviceId);
      const decision = await decide(known);
      if (decision.kind === 'ignored') return decision;
      if (await this.arm(deviceId, decision.events)) {
        if (await this.append(deviceId, known.end, decision.events, cause)) return decision;
      }
    }
    throw new Error(`FLEET of ${deviceId} is contended`);
  }

  private async load(deviceId: DeviceId): Promise<Known> {
    const { log, state } = this.ports;
    for (const stored of await log.load(deviceId, state.endOf(deviceId)?.end ?? 0)) state.apply(stored);
    return { device: state.get(deviceId)?.device, fleetHeld: state.fleetHeld(), end: state.endOf(deviceId) };
  }

  /** A wake-up without its fact is harmless, a fact without its wake-up is a device that is suspect for ever: arm first. */
  private async arm(deviceId: DeviceId, events: readonly FleetEvent[]): Promise<boolean> {
    const at = wakeUpAfter(events);
    if (at === undefined) return true;
    try {
      await this.ports.timers.arm(deviceId, at);
      return true;
    } catch (error) {
      this.ports.timers.forget(deviceId);
      if (error instanceof TimerConflictError) return false;
      throw error;
    }
  }

  private async append(
    deviceId: DeviceId,
    before: LogEnd | undefined,
    events: readonly FleetEvent[],
    cause: Cause,
  ): Promise<boolean> {
    const { log, state, clock, instance, logger } = this.ports;
    const now = clock.now();
    const by = { service: 'registry', instance };
    const commit: FleetCommit = nextCommit(deviceId, before, events, {
      commit: newCommitId(now),
      now,
      by,
      causes: [cause],
    });
    const appended = await log.append(deviceId, commit, before?.end ?? 0);
    if (appended.kind === 'conflict') return false;
    state.apply({ commit, sequence: appended.sequence });
    for (const { type, sequence } of commit.events) logger.info({ deviceId, sequence, type }, 'fact');
    return true;
  }
}
