import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { subjects, type Actor, type ActorProof, type AgentProfile, type DeviceId } from '#proto';
import {
  QueryRefusedError,
  serveQueries,
  type Actors,
  type QueryAnswer,
  type QueryHandlers,
  type QueryRequest,
  type Served,
} from '#libs/messaging';
import type { Clock } from '#libs/platform';
import { type Client, type FleetDecision, type Device, type FleetState, standing } from '#libs/fleet';
import type { FleetConsumer, FleetHandler, IdentityHandler } from '../log/index.js';
import type { MetricsBoard } from '../presence/index.js';
import { listed, profileOf, type ProfilesProjector, type RevokedGrantsProjector } from '../projections/index.js';

/** The caller waits for five seconds: within this he hears what is missing. */
const SHOWN_MS_MAX = 3_000;
const IDS_LISTED_MAX = 20;

export interface QueryPorts {
  readonly nc: NatsConnection;
  readonly fleet: FleetHandler;
  readonly identities: IdentityHandler;
  readonly state: FleetState;
  readonly metrics: MetricsBoard;
  /** AGENT_PROFILES. */
  readonly profiles: ProfilesProjector;
  /** REVOKED_GRANTS. */
  readonly revokedGrants: Pick<RevokedGrantsProjector, 'shows'>;
  readonly actors: Actors;
  readonly consumer: FleetConsumer;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

export function serveRegistry(ports: QueryPorts): Promise<Served> {
  const { nc, logger } = ports;
  return serveQueries(nc, 'registry', handlers(ports), {
    report: (error, query) => logger.error({ err: error, query }, 'a query failed'),
  });
}

function handlers(ports: QueryPorts): QueryHandlers<'registry'> {
  const { fleet, state, identities } = ports;
  return {
    devices: async () => {
      await seen(ports);
      const profiles = state.all().map((device) => profileNow(device, ports));
      return { devices: listed(profiles.toSorted(byId('deviceId'))) };
    },
    enroll: (request) => fleet.enroll(request),
    hold: async (request) => {
      const by = senderOf('hold', request, ports);
      const { deviceId, reason = '' } = request;
      return shown(deviceId, await fleet.hold(deviceId, { by, reason }), ports);
    },
    release: async (request) => {
      const by = senderOf('release', request, ports);
      return shown(request.deviceId, await fleet.release(request.deviceId, { by }), ports);
    },
    'enroll-client': (request) => fleet.enrollClient(request),
    clients: async () => {
      await seen(ports);
      return { clients: state.clients().map(listedClient).toSorted(byId('clientId')) };
    },
    revoke: async (request) => {
      const by = senderOf('revoke', request, ports);
      const { id, reason = '' } = request;
      const decision = await fleet.revoke(id, { by, reason });
      if (isNobody(decision)) throw nobody(id);
      // Profiles show devices only; a client is revoked as soon as it is recorded.
      if (state.client(id) !== undefined) return { changed: decision.kind === 'accepted' };
      const { changed } = await shown(id, decision, ports);
      return { changed };
    },
    'revoke-grants': (request) => revokeGrants(request, ports),
    'revoked-grants': async () => {
      await seen(ports);
      return { revoked: standing(state.grantRevocations(), ports.clock.now()).map(({ revoked }) => revoked) };
    },
    join: (request) => identities.join(request),
    renew: (request) => identities.renew(request),
    identify: async (request) => ({ identity: await identities.identify(request) }),
    revocations: ({ after }) => identities.revocations(after),
  };
}

/** Answered when the bucket shows it, also for what was so already. */
async function revokeGrants(
  request: QueryRequest<'registry', 'revoke-grants'>,
  ports: QueryPorts,
): Promise<QueryAnswer<'registry', 'revoke-grants'>> {
  const { fleet, revokedGrants } = ports;
  const by = senderOf('revoke-grants', request, ports);
  if (by.kind !== 'person') {
    const message = `${by.id} is of kind ${by.kind}; only a person can revoke tokens.`;
    throw new QueryRefusedError({ code: 'UNAUTHORIZED', message, issues: [] });
  }
  const { grants, reason = '', actor } = request;
  const decision = await fleet.revokeGrants({ grants, by, key: actor.key, signedAt: Date.parse(actor.at), reason });
  if (!(await within(SHOWN_MS_MAX, revokedGrants.shows()))) {
    const message = 'It is recorded, but not everybody can see it yet; ask again.';
    throw new QueryRefusedError({ code: 'TRY_AGAIN', message, issues: [] });
  }
  return { changed: decision.kind === 'accepted' };
}

/** These requests have no defaults, so that what was parsed is what was signed. */
function senderOf(
  name: 'hold' | 'release' | 'revoke' | 'revoke-grants',
  request: { readonly actor: ActorProof },
  { actors, clock }: QueryPorts,
): Actor {
  const subject = subjects.query('registry', name);
  const answer = actors.actorOf(request.actor, { subject, body: request, now: clock.now() });
  if (answer.ok) return answer.actor;
  throw new QueryRefusedError(answer.refusal);
}

/** Answers when the profiles show it, also for what was so already: the scheduler reads nothing but them. */
async function shown(
  deviceId: DeviceId | null,
  decision: FleetDecision,
  { state, consumer, profiles, signal }: QueryPorts,
): Promise<QueryAnswer<'registry', 'hold'>> {
  if (isNobody(decision)) throw notEnrolled(deviceId, state);
  // What other replicas have enrolled by now is held, too.
  const inTime = await consumer.reached(await consumer.lastSequence(), signal);
  const deviceIds = deviceId === null ? state.all().map((device) => device.deviceId) : [deviceId];
  if (!inTime || !(await within(SHOWN_MS_MAX, profiles.shows(deviceIds)))) {
    const message = 'It is recorded, but not every profile shows it yet; ask again.';
    throw new QueryRefusedError({ code: 'TRY_AGAIN', message, issues: [] });
  }
  return { changed: decision.kind === 'accepted', devices: deviceIds.length };
}

function isNobody(decision: FleetDecision): boolean {
  return decision.kind === 'ignored' && decision.reason === 'NOT_ENROLLED';
}

function nobody(id: DeviceId): QueryRefusedError {
  const message = `There is no device or client ${id}.`;
  return new QueryRefusedError({ code: 'NOT_FOUND', message, issues: [{ path: 'id', message: 'must be enrolled' }] });
}

async function within(limitMs: number, work: Promise<void>): Promise<boolean> {
  const ended = new AbortController();
  const tooLate = sleep(limitMs, false, { signal: ended.signal }).catch(() => false);
  const inTime = await Promise.race([work.then(() => true), tooLate]);
  ended.abort();
  return inTime;
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

/** Whoever has changed something by another replica sees it in a list, as a rule; a list that is a little old is one, too. */
async function seen({ consumer, signal }: QueryPorts): Promise<void> {
  const newest = await consumer.newest().catch(() => 0);
  await consumer.reached(newest, signal);
}

function profileNow(device: Device, { state, metrics }: QueryPorts): AgentProfile {
  return profileOf(device, state.fleetHeld(), metrics.of(device.deviceId, device.session));
}

/** Without what it proves itself with. */
function listedClient({ clientId, role, targets, enrolledAt, revoked }: Client) {
  return { clientId, role, targets, enrolledAt, revoked };
}

function byId<K extends string>(id: K) {
  return (a: Readonly<Record<K, DeviceId>>, b: Readonly<Record<K, DeviceId>>): number => (a[id] < b[id] ? -1 : 1);
}
