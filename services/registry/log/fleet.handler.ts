import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { FLEET_ID, GRANTS_ID, LIMITS } from '#proto';
import type { Actor, Cause, DeviceHold, DeviceId, FleetCommit, FleetEvent, KeptProof, Presence } from '#proto';
import { Aggregates, OVERTAKEN, newCommitId, NO_COMMITS, unchanged, type FleetLog, type Loaded } from '#libs/event-log';
import { newJoinToken, newToken, tokenHash } from '#libs/keys';
import { QueryRefusedError, TimerConflictError, type QueryAnswer, type QueryRequest } from '#libs/messaging';
import type { Clock } from '#libs/platform';
import {
  decideHandBack,
  decideHold,
  decidePresence,
  decideRelease,
  wakeUpAfter,
  type FleetDecision,
  decideClientEnrolment,
  decideEnrolment,
  decideProfile,
  decideJoin,
  decideRevocation,
  decideTakeOver,
  type Bearer,
  type Joining,
  type NewCredential,
  type FleetState,
  decideGrantRevocation,
  type GrantOrder,
} from '#libs/fleet';
import { refusalOf, refusalOfProfile, reservedName } from './refusals.js';

const ID_BYTES = 10;

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

/** What is decided upon, all of one moment; neither device nor client for who is not enrolled, and for the whole fleet. */
interface Known extends Bearer {
  readonly deviceId: DeviceId;
  readonly fleetHeld: DeviceHold | null;
}

/** Who orders something, and what proves it: kept with what follows. */
export interface Ordered {
  readonly by: Actor;
  readonly proof: KeptProof;
}

/** The only writer of FLEET: load, decide, append. */
export class FleetHandler {
  readonly #ports: FleetPorts;
  readonly #chains: Aggregates<DeviceId, FleetCommit, FleetEvent, Known>;
  /** Settles after the last order about grants: they are of one chain, and many at once would only be in each other's way. */
  #grantOrders: Promise<unknown> = Promise.resolve();

  constructor(ports: FleetPorts) {
    this.#ports = ports;
    this.#chains = chainsOf(ports);
  }

  /** Looks at a device and records what follows. `notBefore`: the instant of a due timer, by the server's clock. */
  async look(deviceId: DeviceId, cause: Cause, notBefore = 0): Promise<FleetDecision> {
    const { clock, graceMs, presence } = this.#ports;
    return this.#decideAndAppend(deviceId, cause, async ({ device }) => {
      // Read after the log: what another replica recorded came from this presence or an older one, never a newer one.
      const seen = device === undefined ? undefined : await presence(deviceId);
      return decidePresence(device, seen, { now: Math.max(clock.now(), notBefore), graceMs });
    });
  }

  /** A timer fired. One that was armed for an older suspicion fires too early: then the device needs another one. */
  async due(deviceId: DeviceId, cause: Cause, at: number): Promise<void> {
    const decision = await this.look(deviceId, cause, at);
    if (decision.kind !== 'ignored' || decision.reason !== 'STILL_IN_GRACE') return;
    const lostAt = this.#ports.state.get(deviceId)?.device.lostAt;
    if (lostAt === null || lostAt === undefined) return;
    const { timers } = this.#ports;
    timers.forget(deviceId);
    // A conflict means that somebody else has armed it just now.
    await timers.arm(deviceId, Date.parse(lostAt)).catch((error: unknown) => {
      if (!(error instanceof TimerConflictError)) throw error;
    });
  }

  async enroll(
    { credential: kind = 'token', ...request }: QueryRequest<'registry', 'enroll'>,
    { by, proof }: Ordered,
  ): Promise<QueryAnswer<'registry', 'enroll'>> {
    const deviceId = request.deviceId ?? newId('device');
    unlessReserved('deviceId', deviceId);
    const now = this.#ports.clock.now();
    const token = kind === 'join' ? newJoinToken() : newToken();
    const hash = tokenHash(token);
    const expiresAt = now + LIMITS.joinTokenMs;
    const credential: NewCredential =
      kind === 'join' ? { kind, tokenHash: hash, expiresAt } : { kind, tokenHash: hash };
    const { admin, manifest, set } = request;
    const given = set && { set, by };
    const decision = await this.#decideAndAppend(deviceId, this.#asked(proof), async (known) =>
      decideEnrolment(known, { admin, manifest, credential, given, now }),
    );
    unlessRejected(decision, deviceId);
    return kind === 'join' ? { deviceId, token, expiresAt: new Date(expiresAt).toISOString() } : { deviceId, token };
  }

  /** Records what the administrator says of a device. Throws with the reason when it cannot be said. */
  async setProfile(
    { id, deviceId, set = {}, unset = [], revision }: QueryRequest<'registry', 'device-set'>,
    { by, proof }: Ordered,
  ): Promise<FleetDecision> {
    const decision = await this.#decideAndAppend(deviceId, this.#asked(proof, id), async ({ device }) =>
      decideProfile(device, { set, unset, by, commandId: id, revision, now: this.#ports.clock.now() }),
    );
    unlessRejected(decision, deviceId);
    return decision;
  }

  /** A client that is no device. Its token exists in the answer only, too. */
  async enrollClient(
    request: QueryRequest<'registry', 'enroll-client'>,
    { proof }: Pick<Ordered, 'proof'>,
  ): Promise<QueryAnswer<'registry', 'enroll-client'>> {
    const clientId = request.clientId ?? newId('client');
    unlessReserved('clientId', clientId);
    const { targets } = request;
    const token = newToken();
    const decision = await this.#decideAndAppend(clientId, this.#asked(proof), async (known) =>
      decideClientEnrolment(known, { targets, tokenHash: tokenHash(token), now: this.#ports.clock.now() }),
    );
    unlessRejected(decision, clientId);
    return { clientId, token };
  }

  /** Binds the key of the holder of the join token, if it is still good. Throws with the reason when it is not. */
  async join(deviceId: DeviceId, joining: Omit<Joining, 'now'>): Promise<void> {
    const decision = await this.#decideAndAppend(deviceId, this.#asked(), async ({ device }) =>
      decideJoin(device, { ...joining, now: this.#ports.clock.now() }),
    );
    unlessRejected(decision, deviceId);
  }

  /** Ends every credential of a device or client; `by` is proven. */
  revoke(id: DeviceId, { by, proof, reason }: Ordered & { readonly reason: string }): Promise<FleetDecision> {
    return this.#decideAndAppend(id, this.#asked(proof), async (known) =>
      decideRevocation(known, { by, reason, now: this.#ports.clock.now() }),
    );
  }

  /** Takes grants back. Throws when somebody has taken back too many. */
  async revokeGrants({ proof, ...order }: Omit<GrantOrder, 'now'> & Ordered): Promise<FleetDecision> {
    const turn = this.#grantOrders.then(() =>
      this.#decideAndAppend(GRANTS_ID, this.#asked(proof), async () =>
        decideGrantRevocation(this.#ports.state.grantRevocations(), { ...order, now: this.#ports.clock.now() }),
      ),
    );
    this.#grantOrders = turn.catch(() => undefined);
    const decision = await turn;
    unlessRejected(decision, GRANTS_ID);
    return decision;
  }

  /** Holds a device, or everything when there is none; `by` is proven. */
  hold(
    deviceId: DeviceId | null,
    { by, proof, reason }: Ordered & { readonly reason: string },
  ): Promise<FleetDecision> {
    return this.#decideAndAppend(deviceId ?? FLEET_ID, this.#asked(proof), async ({ device, fleetHeld }) =>
      decideHold(deviceId === null ? fleetHeld : device?.held, { by, reason, now: this.#ports.clock.now() }),
    );
  }

  /** The other way round. A device that is released stays held while the whole fleet is. */
  release(deviceId: DeviceId | null, { by, proof }: Ordered): Promise<FleetDecision> {
    return this.#decideAndAppend(deviceId ?? FLEET_ID, this.#asked(proof), async ({ device, fleetHeld }) =>
      decideRelease(deviceId === null ? fleetHeld : device?.held, { by, now: this.#ports.clock.now() }),
    );
  }

  /** Gives the screen of a device to a person, and takes it from agents. Throws when it has none. */
  async takeOver(
    deviceId: DeviceId,
    { by, proof, reason }: Ordered & { readonly reason: string },
  ): Promise<FleetDecision> {
    const decision = await this.#decideAndAppend(deviceId, this.#asked(proof), async ({ device }) =>
      decideTakeOver(device, { by, reason, now: this.#ports.clock.now() }),
    );
    unlessRejected(decision, deviceId);
    return decision;
  }

  /** The other way round: agents look again before they act. */
  handBack(deviceId: DeviceId, { by, proof }: Ordered): Promise<FleetDecision> {
    return this.#decideAndAppend(deviceId, this.#asked(proof), async ({ device }) =>
      decideHandBack(device, { by, now: this.#ports.clock.now() }),
    );
  }

  /** By whom everything is held, as the log says now: another replica may have recorded it a moment ago. */
  async fleetHeld(): Promise<DeviceHold | null> {
    return (await this.#chains.load(FLEET_ID, this.#known(FLEET_ID))).state.fleetHeld;
  }

  #asked(proof?: KeptProof, id = newCommitId(this.#ports.clock.now())): Cause {
    return { kind: 'request', id, ...(proof !== undefined && { proof }) };
  }

  async #decideAndAppend(
    deviceId: DeviceId,
    cause: Cause,
    decide: (known: Known) => Promise<FleetDecision>,
  ): Promise<FleetDecision> {
    const { value, after, stored } = await this.#chains.change<FleetDecision>(
      deviceId,
      async (known) => {
        const decision = await decide(known);
        if (decision.kind !== 'accepted') return unchanged(decision);
        if (!(await this.#arm(deviceId, decision.events))) return OVERTAKEN;
        return { value: decision, events: decision.events, causes: [cause] };
      },
      { known: this.#known(deviceId) },
    );
    if (stored && value.kind === 'accepted') this.#tell(deviceId, value.events, after.end.events);
    return value;
  }

  /** `sequence`: of the last of these facts. */
  #tell(deviceId: DeviceId, events: readonly FleetEvent[], sequence: number): void {
    for (const [index, { type }] of events.entries()) {
      this.#ports.logger.info({ deviceId, sequence: sequence - events.length + index + 1, type }, 'fact');
    }
  }

  #known(deviceId: DeviceId): Loaded<Known> {
    const { state } = this.#ports;
    return { state: knownOf(state, deviceId), end: state.endOf(deviceId) ?? NO_COMMITS };
  }

  /** A wake-up without its fact is harmless, a fact without its wake-up is a device that is suspect for ever: arm first. */
  async #arm(deviceId: DeviceId, events: readonly FleetEvent[]): Promise<boolean> {
    const at = wakeUpAfter(events);
    if (at === undefined) return true;
    try {
      await this.#ports.timers.arm(deviceId, at);
      return true;
    } catch (error) {
      this.#ports.timers.forget(deviceId);
      if (error instanceof TimerConflictError) return false;
      throw error;
    }
  }
}

/** What everybody here knows of a device, or of the whole fleet, now. */
function knownOf(state: FleetState, deviceId: DeviceId): Known {
  const device = state.get(deviceId)?.device;
  return { deviceId, device, client: state.client(deviceId), fleetHeld: state.fleetHeld() };
}

/** The chains of FLEET, which are all folded into one state. */
function chainsOf({ log, state, clock, instance }: FleetPorts): Aggregates<DeviceId, FleetCommit, FleetEvent, Known> {
  return new Aggregates(
    {
      name: (deviceId) => `FLEET of ${deviceId}`,
      ownerOf: (deviceId) => ({ deviceId }),
      nothing: (deviceId) => knownOf(state, deviceId),
      follow: ({ deviceId }, stored) => {
        for (const one of stored) state.apply(one);
        return knownOf(state, deviceId);
      },
    },
    { log, clock, by: { service: 'registry', instance } },
  );
}

function newId(kind: 'device' | 'client'): DeviceId {
  return `${kind}-${randomBytes(ID_BYTES).toString('hex')}`;
}

function unlessReserved(path: 'deviceId' | 'clientId', id: DeviceId): void {
  const refusal = reservedName(path, id);
  if (refusal !== undefined) throw new QueryRefusedError(refusal);
}

function unlessRejected(decision: FleetDecision, id: DeviceId): void {
  if (decision.kind !== 'rejected') return;
  if (decision.reason === 'PROFILE_REFUSED') throw new QueryRefusedError(refusalOfProfile(decision.given, id));
  throw new QueryRefusedError(refusalOf(decision.reason, id));
}
