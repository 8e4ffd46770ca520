import { Module } from '@nestjs/common';
import type { DeviceId } from '#proto';
import {
  ACTOR_LOG,
  FLEET_LOG,
  meteredLog,
  openActorLog,
  openFleetLog,
  type ActorLog,
  type FleetLog,
} from '#libs/event-log';
import { CredentialIssuer, readSecret } from '#libs/keys';
import { Actors, DeviceTimers } from '#libs/messaging';
import {
  CLOCK,
  ConfigError,
  HealthIndicators,
  INSTANCE,
  knowsActors,
  loadConfig,
  LOGGER,
  Metrics,
  NATS,
  part,
  POSTGRES,
  SERVICE_CONFIG,
  token,
} from '#libs/platform';
import { Roster } from '#libs/actors';
import { AccessQueries } from './access/index.js';
import { ActorsConsumer, ActorsHandler, ActorsProjector, FeedDurables, FirstActors, KvActors } from './actors/index.js';
import { ContentQueries, FleetQueries, IdentityQueries, PeopleQueries } from './endpoint/index.js';
import { FleetState, isRecorded, liveSession } from '#libs/fleet';
import { DueTimers, FleetConsumer, FleetHandler, IdentityHandler } from './log/index.js';
import { fleetFigures, MetricsBoard, PresenceConsumer, readPresence } from './presence/index.js';
import {
  DeviceRows,
  DirtyKeys,
  KvProfiles,
  KvRevokedGrants,
  ProfilesProjector,
  RevokedGrantsProjector,
  type ProfileStore,
  type ProjectorOptions,
} from './projections/index.js';
import { RegistryConfig } from './registry.config.js';

export const REGISTRY_CONFIG = token<RegistryConfig>('REGISTRY_CONFIG');
/** Of the registry's user of the bus, the same one in every replica: what credentials are signed with. */
export const SEED = token<string>('SEED');
/** Where profiles are shown besides AGENT_PROFILES. */
export const ROWS = token<ProfileStore & { readonly name: string }>('ROWS');
const FLEET = token<FleetLog>('FLEET');
const ACTORS = token<ActorLog>('ACTORS');
const ROWS_PROJECTOR = token<ProfilesProjector>('ROWS_PROJECTOR');

/**
 * One replica of the registry.
 *
 *   PRESENCE ──hints──┐
 *   due timers ───────┼──► FleetHandler: load, decide, append ──► FLEET ──► FleetState ──► AGENT_PROFILES, Postgres
 *   enroll, join, … ──┘                                             │                    └► REVOKED_GRANTS
 *                                                                   └── also what other replicas append
 *   people-…, token-… ────► ActorsHandler: load, decide, append ──► ACTORS ──► Roster ──► bucket ACTORS
 *                                                                              └► durables of FEED, one per external system
 */
@Module({
  controllers: [AccessQueries, ContentQueries, DueTimers, FleetQueries, IdentityQueries, PeopleQueries],
  providers: [
    part(REGISTRY_CONFIG, [], () => loadConfig(RegistryConfig)),
    part(SEED, [SERVICE_CONFIG], ({ nats }) => readSeed(nats.seedFile)),
    part(ROWS, [POSTGRES], (postgres) => new DeviceRows(postgres)),
    part(FLEET, [NATS, Metrics], (nc, metrics) => meteredLog(openFleetLog(nc), { metrics, stream: FLEET_LOG.stream })),
    part(FleetState, [Metrics], (metrics) => {
      const state = new FleetState();
      fleetFigures(state, metrics);
      return state;
    }),
    MetricsBoard,
    part(FleetConsumer, [NATS, FleetState, LOGGER], (nc, state, logger) => new FleetConsumer({ nc, state, logger })),
    part(
      FleetHandler,
      [FLEET, FleetState, NATS, CLOCK, INSTANCE, LOGGER, REGISTRY_CONFIG],
      (log, state, nc, clock, instance, logger, { graceMs }) => {
        const presence = (id: string) => readPresence(nc, id);
        return new FleetHandler({
          log,
          state,
          timers: new DeviceTimers(nc),
          presence,
          clock,
          instance,
          logger,
          graceMs,
        });
      },
    ),
    part(
      CredentialIssuer,
      [SEED, REGISTRY_CONFIG],
      (seed, { credentialMs }) => new CredentialIssuer({ seed, lifeMs: credentialMs }),
    ),
    part(
      IdentityHandler,
      [FleetHandler, FleetState, FleetConsumer, CredentialIssuer, CLOCK],
      (fleet, state, consumer, issuer, clock) => new IdentityHandler({ fleet, state, consumer, issuer, clock }),
    ),
    part(
      ProfilesProjector,
      [NATS, FLEET, FleetHandler, FleetState, FleetConsumer, MetricsBoard, LOGGER],
      (nc, log, fleet, state, consumer, metrics, logger) =>
        new ProfilesProjector({
          ...facts(log, fleet, state),
          name: 'AGENT_PROFILES',
          store: new KvProfiles(nc),
          logger,
          metrics: ({ deviceId, session }, stored) => metrics.toShow(deviceId, session, stored),
        }).following(consumer),
    ),
    part(
      ROWS_PROJECTOR,
      [ROWS, FLEET, FleetHandler, FleetState, FleetConsumer, MetricsBoard, LOGGER],
      (store, log, fleet, state, consumer, metrics, logger) =>
        new ProfilesProjector({
          ...facts(log, fleet, state),
          name: store.name,
          store,
          logger,
          metrics: ({ deviceId, session }) => metrics.of(deviceId, session),
        }).following(consumer),
    ),
    part(
      RevokedGrantsProjector,
      [NATS, FleetState, FleetConsumer, CLOCK, LOGGER],
      (nc, state, consumer, clock, logger) =>
        new RevokedGrantsProjector({ store: new KvRevokedGrants(nc), state, clock, logger }).following(consumer),
    ),
    part(
      DirtyKeys,
      [FleetHandler, LOGGER],
      (fleet, logger) =>
        new DirtyKeys({
          process: (id) => fleet.look(id, { kind: 'presence', id }),
          failed: (error, deviceId, failures) =>
            logger[failures === 1 ? 'warn' : 'debug']({ reason: String(error), deviceId, failures }, 'cannot look now'),
        }),
    ),
    part(
      PresenceConsumer,
      [NATS, FleetState, DirtyKeys, MetricsBoard, ProfilesProjector, LOGGER],
      (nc, state, looks, metrics, profiles, logger) =>
        new PresenceConsumer({
          nc,
          logger,
          view: {
            isRecorded: (presence) => isRecorded(state.get(presence.deviceId)?.device, presence),
            connected: () => connectedDevices(state),
            hint: (id) => looks.mark(id),
            // Metrics are for the scheduler and for people who look now: no row is written for them.
            seen: (presence) => {
              if (metrics.take(presence)) profiles.changed(presence.deviceId);
            },
            gone: (id) => metrics.gone(id),
          },
        }),
    ),
    part(ACTORS, [NATS, Metrics], (nc, metrics) => meteredLog(openActorLog(nc), { metrics, stream: ACTOR_LOG.stream })),
    Roster,
    part(ActorsConsumer, [NATS, Roster, LOGGER], (nc, state, logger) => new ActorsConsumer({ nc, state, logger })),
    part(
      ActorsHandler,
      [ACTORS, Roster, ActorsConsumer, CLOCK, INSTANCE, LOGGER],
      (log, roster, consumer, clock, instance, logger) =>
        new ActorsHandler({ log, roster, consumer, clock, instance, logger }),
    ),
    part(ActorsProjector, [NATS, Roster, ActorsConsumer, LOGGER], (nc, roster, consumer, logger) =>
      new ActorsProjector({ store: new KvActors(nc), roster, logger }).following(consumer),
    ),
    part(
      FeedDurables,
      [NATS, Roster, ActorsConsumer, HealthIndicators, LOGGER],
      (nc, roster, consumer, health, logger) => {
        const durables = new FeedDurables({ nc, roster, logger }).following(consumer);
        health.register('feed', async () => {
          if (durables.problem !== undefined) throw new Error(durables.problem);
        });
        return durables;
      },
    ),
    part(
      FirstActors,
      [NATS, REGISTRY_CONFIG, Roster, ActorsHandler, ActorsProjector, Actors, LOGGER],
      (nc, { actorsFile }, roster, handler, projector, actors, logger) =>
        new FirstActors({ nc, file: actorsFile, roster, handler, projector, actors, logger }),
    ),
    knowsActors(),
  ],
})
export class RegistryModule {}

function facts(
  log: FleetLog,
  fleet: FleetHandler,
  state: FleetState,
): Pick<ProjectorOptions, 'state' | 'fleetHeld' | 'isUnknown'> {
  return { state, fleetHeld: () => fleet.fleetHeld(), isUnknown: async (id) => (await log.endsAt(id)) === 0 };
}

function* connectedDevices(state: FleetState): Generator<DeviceId> {
  for (const device of state.all()) if (liveSession(device) !== undefined) yield device.deviceId;
}

/** Replicas without a common key would not know each other's credentials. */
async function readSeed(file: string | undefined): Promise<string> {
  const seed = file === undefined ? undefined : await readSecret(file);
  if (seed !== undefined) return seed;
  throw new ConfigError(
    'ORRERY_NATS_SEED_FILE must name the file with the seed of the registry: it signs the credentials of devices.',
  );
}
