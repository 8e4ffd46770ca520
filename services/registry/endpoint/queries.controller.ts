import { Inject } from '@nestjs/common';
import type { AgentProfile, DeviceId } from '#proto';
import { QueryRefusedError, type Asker, type QueryAnswer, type QueryName, type QueryRequest } from '#libs/messaging';
import { Answers, By, CLOCK, TakesMessages, TheQuery, type Clock } from '#libs/platform';
import { FleetState, standing, type Client, type FleetDecision, type Device } from '#libs/fleet';
import { FleetConsumer, FleetHandler, IdentityHandler, type Ordered } from '../log/index.js';
import { MetricsBoard } from '../presence/index.js';
import { isInTime, SHOWN_MS_MAX } from './in-time.runner.js';
import { listed, profileOf, ProfilesProjector, RevokedGrantsProjector } from '../projections/index.js';

const IDS_LISTED_MAX = 20;

type Question<N extends QueryName<'registry'>> = QueryRequest<'registry', N>;
type Answer<N extends QueryName<'registry'>> = Promise<QueryAnswer<'registry', N>>;

/** Devices, clients and grants, as people and programs ask for them and order them. */
@TakesMessages()
export class FleetQueries {
  readonly #ports: FleetPorts;

  constructor(
    @Inject(FleetHandler) fleet: FleetHandler,
    @Inject(FleetState) state: FleetState,
    @Inject(FleetConsumer) consumer: FleetConsumer,
    @Inject(ProfilesProjector) profiles: ProfilesProjector,
    @Inject(RevokedGrantsProjector) revokedGrants: RevokedGrantsProjector,
    @Inject(MetricsBoard) metrics: MetricsBoard,
    @Inject(CLOCK) clock: Clock,
  ) {
    this.#ports = { fleet, state, consumer, profiles, revokedGrants, metrics, clock };
  }

  @Answers('registry', 'devices')
  async devices(): Answer<'devices'> {
    await seen(this.#ports);
    const profiles = this.#ports.state.all().map((device) => profileNow(device, this.#ports));
    return { devices: listed(profiles.toSorted(byId('deviceId'))) };
  }

  @Answers('registry', 'enroll')
  enroll(@TheQuery() request: Question<'enroll'>, @By() asker: Asker): Answer<'enroll'> {
    return this.#ports.fleet.enroll(request, orderedBy(asker));
  }

  @Answers('registry', 'device-set')
  async setProfile(@TheQuery() request: Question<'device-set'>, @By() asker: Asker): Answer<'device-set'> {
    const { fleet, state } = this.#ports;
    const { deviceId } = request;
    const { set = {}, unset = [] } = request;
    if (Object.keys(set).length + unset.length === 0) throw nothingSaid();
    const decision = await fleet.setProfile(request, orderedBy(asker));
    await shown(deviceId, decision, this.#ports);
    const changed = decision.kind === 'accepted' || (decision.kind === 'ignored' && decision.reason === 'ALREADY_DONE');
    return { changed, revision: state.get(deviceId)?.device.given.revision ?? 0 };
  }

  @Answers('registry', 'hold')
  async hold(@TheQuery() request: Question<'hold'>, @By() asker: Asker): Answer<'hold'> {
    const ordered = orderedBy(asker);
    const { deviceId, reason = '', screen } = request;
    const { fleet } = this.#ports;
    if (screen === true) {
      const one = oneScreen(deviceId);
      return shown(one, await fleet.takeOver(one, { ...ordered, reason }), this.#ports);
    }
    return shown(deviceId, await fleet.hold(deviceId, { ...ordered, reason }), this.#ports);
  }

  @Answers('registry', 'release')
  async release(@TheQuery() { deviceId, screen }: Question<'release'>, @By() asker: Asker): Answer<'release'> {
    const { fleet } = this.#ports;
    if (screen === true) {
      const one = oneScreen(deviceId);
      return shown(one, await fleet.handBack(one, orderedBy(asker)), this.#ports);
    }
    return shown(deviceId, await fleet.release(deviceId, orderedBy(asker)), this.#ports);
  }

  @Answers('registry', 'enroll-client')
  enrollClient(@TheQuery() request: Question<'enroll-client'>, @By() asker: Asker): Answer<'enroll-client'> {
    return this.#ports.fleet.enrollClient(request, orderedBy(asker));
  }

  @Answers('registry', 'clients')
  async clients(): Answer<'clients'> {
    await seen(this.#ports);
    return { clients: this.#ports.state.clients().map(listedClient).toSorted(byId('clientId')) };
  }

  @Answers('registry', 'revoke')
  async revoke(@TheQuery() { id, reason = '' }: Question<'revoke'>, @By() asker: Asker): Answer<'revoke'> {
    const { fleet, state } = this.#ports;
    const decision = await fleet.revoke(id, { ...orderedBy(asker), reason });
    if (isNobody(decision)) throw nobody(id);
    // Profiles show devices only; a client is revoked as soon as it is recorded.
    if (state.client(id) !== undefined) return { changed: decision.kind === 'accepted' };
    const { changed } = await shown(id, decision, this.#ports);
    return { changed };
  }

  @Answers('registry', 'revoke-grants')
  revokeGrants(@TheQuery() request: Question<'revoke-grants'>, @By() asker: Asker): Answer<'revoke-grants'> {
    return revokeGrants(request, asker, this.#ports);
  }

  @Answers('registry', 'revoked-grants')
  async revokedGrants(): Answer<'revoked-grants'> {
    const { state, clock } = this.#ports;
    await seen(this.#ports);
    return { revoked: standing(state.grantRevocations(), clock.now()).map(({ revoked }) => revoked) };
  }
}

/** Who somebody is: asked by gateways, for devices and clients. */
@TakesMessages()
export class IdentityQueries {
  readonly #identities: IdentityHandler;

  constructor(@Inject(IdentityHandler) identities: IdentityHandler) {
    this.#identities = identities;
  }

  @Answers('registry', 'join')
  join(request: Question<'join'>): Answer<'join'> {
    return this.#identities.join(request);
  }

  @Answers('registry', 'renew')
  renew(request: Question<'renew'>): Answer<'renew'> {
    return this.#identities.renew(request);
  }

  @Answers('registry', 'identify')
  async identify(request: Question<'identify'>): Answer<'identify'> {
    return { identity: await this.#identities.identify(request) };
  }

  @Answers('registry', 'revocations')
  async revocations({ after }: Question<'revocations'>): Answer<'revocations'> {
    return this.#identities.revocations(after);
  }
}

interface FleetPorts {
  readonly fleet: FleetHandler;
  readonly state: FleetState;
  readonly consumer: FleetConsumer;
  /** AGENT_PROFILES. */
  readonly profiles: ProfilesProjector;
  /** REVOKED_GRANTS. */
  readonly revokedGrants: RevokedGrantsProjector;
  readonly metrics: MetricsBoard;
  readonly clock: Clock;
}

/** Answered when the bucket shows it, also for what was so already. A grant is taken back by who has it, or by who has signed it: that is his own. */
async function revokeGrants(
  { grants, reason = '' }: QueryRequest<'registry', 'revoke-grants'>,
  asker: Asker,
  ports: FleetPorts,
): Promise<QueryAnswer<'registry', 'revoke-grants'>> {
  const { fleet, revokedGrants } = ports;
  const { by, proof } = orderedBy(asker);
  if (by.kind !== 'person') {
    const message = `${by.id} is of kind ${by.kind}; only a person can revoke tokens.`;
    throw new QueryRefusedError({ code: 'UNAUTHORIZED', message, issues: [] });
  }
  const decision = await fleet.revokeGrants({
    by,
    proof,
    grants,
    key: proof.key,
    signedAt: Date.parse(proof.at),
    reason,
  });
  if (!(await isInTime(SHOWN_MS_MAX, revokedGrants.shows()))) {
    const message = 'It is recorded, but not everybody can see it yet; ask again.';
    throw new QueryRefusedError({ code: 'TRY_AGAIN', message, issues: [] });
  }
  return { changed: decision.kind === 'accepted' };
}

function orderedBy({ actor: by, proof }: Asker): Ordered {
  return { by, proof };
}

/** Answers when the profiles show it, also for what was so already: the scheduler reads nothing but them. */
async function shown(
  deviceId: DeviceId | null,
  decision: FleetDecision,
  { state, consumer, profiles }: FleetPorts,
): Promise<QueryAnswer<'registry', 'hold'>> {
  if (isNobody(decision)) throw notEnrolled(deviceId, state);
  // What other replicas have enrolled by now is held, too.
  const inTime = await consumer.reached(await consumer.lastSequence());
  const deviceIds = deviceId === null ? state.all().map((device) => device.deviceId) : [deviceId];
  if (!inTime || !(await isInTime(SHOWN_MS_MAX, profiles.shows(deviceIds)))) {
    const message = 'It is recorded, but not every profile shows it yet; ask again.';
    throw new QueryRefusedError({ code: 'TRY_AGAIN', message, issues: [] });
  }
  return { changed: decision.kind === 'accepted', devices: deviceIds.length };
}

/** There is one mouse for one person: nobody takes over all screens at once. */
function oneScreen(deviceId: DeviceId | null): DeviceId {
  if (deviceId !== null) return deviceId;
  const message = 'A screen is taken over, and handed back, one device at a time.';
  throw new QueryRefusedError({
    code: 'INVALID_REQUEST',
    message,
    issues: [{ path: 'deviceId', message: 'must name one device' }],
  });
}

function isNobody(decision: FleetDecision): boolean {
  return decision.kind === 'ignored' && decision.reason === 'NOT_ENROLLED';
}

function nothingSaid(): QueryRefusedError {
  const message = 'Nothing is to be changed.';
  const issues = [{ path: 'set', message: 'must have a name with its value, or unset must name one' }];
  return new QueryRefusedError({ code: 'INVALID_REQUEST', message, issues });
}

function nobody(id: DeviceId): QueryRefusedError {
  const message = `There is no device or client ${id}.`;
  return new QueryRefusedError({ code: 'NOT_FOUND', message, issues: [{ path: 'id', message: 'must be enrolled' }] });
}

function notEnrolled(deviceId: DeviceId | null, state: FleetState): QueryRefusedError {
  const known = state.all().map((device) => device.deviceId);
  const some = known.toSorted().slice(0, IDS_LISTED_MAX).join(', ');
  const more = known.length > IDS_LISTED_MAX ? `, and ${known.length - IDS_LISTED_MAX} more` : '';
  const valid = known.length === 0 ? 'no device is enrolled' : `must be one of ${some}${more}`;
  return new QueryRefusedError({
    code: 'NOT_FOUND',
    message: `There is no device ${deviceId}.`,
    issues: [{ path: 'deviceId', message: valid }],
  });
}

/** A person who changed something by another replica sees it in a list, as a rule; a list that is a little old is one, too. */
async function seen({ consumer }: FleetPorts): Promise<void> {
  const newest = await consumer.newest().catch(() => 0);
  await consumer.reached(newest);
}

function profileNow(device: Device, { state, metrics }: FleetPorts): AgentProfile {
  return profileOf(device, state.fleetHeld(), metrics.of(device.deviceId, device.session));
}

/** Without what it proves itself with. */
function listedClient({ clientId, role, targets, enrolledAt, revoked }: Client) {
  return { clientId, role, targets, enrolledAt, revoked };
}

function byId<K extends string>(id: K) {
  return (a: Readonly<Record<K, DeviceId>>, b: Readonly<Record<K, DeviceId>>): number => (a[id] < b[id] ? -1 : 1);
}
