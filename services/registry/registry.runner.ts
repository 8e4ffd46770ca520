import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { FLEET_ID, GRANTS_ID } from '#proto';
import type { DeviceId } from '#proto';
import { openFleetLog } from '#libs/event-log';
import { CredentialIssuer } from '#libs/keys';
import { Actors, DeviceTimers, type Consumption, type Served } from '#libs/messaging';
import { untilItWorks, type Clock } from '#libs/platform';
import { isRecorded, liveSession, FleetState } from '#libs/fleet';
import {
  DirtyKeys,
  KvProfiles,
  KvRevokedGrants,
  type ProfileStore,
  ProfilesProjector,
  type ProjectorOptions,
  RevokedGrantsProjector,
} from './projections/index.js';
import { consumeDue, FleetConsumer, FleetHandler, IdentityHandler } from './log/index.js';
import { MetricsBoard, PresenceConsumer } from './presence/index.js';
import { serveRegistry } from './endpoint/index.js';

const FOLD_LOOK_MS_MAX = 10_000;

export interface RegistryOptions {
  readonly nc: NatsConnection;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly instance: string;
  readonly graceMs: number;
  /** Of the registry's user of the bus, the same one in every replica: what credentials are signed with. */
  readonly seed: string;
  readonly credentialMs: number;
  /** Projections besides AGENT_PROFILES. */
  readonly stores: readonly (ProfileStore & { readonly name: string })[];
}

/**
 * One replica of the registry.
 *
 *   PRESENCE ──hints──┐
 *   due timers ───────┼──► FleetHandler: load, decide, append ──► FLEET ──► FleetState ──► AGENT_PROFILES, Postgres
 *   enroll, join, … ──┘                                             │                    └► REVOKED_GRANTS
 *                                                                   └── also what other replicas append
 */
export class Registry {
  private readonly options: RegistryOptions;
  private readonly stopping = new AbortController();
  private readonly running: Promise<unknown>[] = [];
  private readonly state = new FleetState();
  private readonly metrics = new MetricsBoard();
  private readonly profiles: ProfilesProjector;
  private readonly projectors: readonly ProfilesProjector[];
  private readonly revokedGrants: RevokedGrantsProjector;
  private readonly fleet: FleetHandler;
  private readonly follower: FleetConsumer;
  private readonly presence: PresenceConsumer;
  private readonly looks: DirtyKeys;
  private actors: Actors | undefined;
  private due: Consumption | undefined;
  private queries: Served | undefined;

  constructor(options: RegistryOptions) {
    const { nc, clock, instance, graceMs, logger } = options;
    const { state, metrics } = this;
    const log = openFleetLog(nc);
    this.options = options;
    const projector = (name: string, store: ProfileStore, shown: ProjectorOptions['metrics']): ProfilesProjector =>
      new ProfilesProjector({
        name,
        store,
        state,
        logger,
        metrics: shown,
        fleetHeld: () => this.fleet.fleetHeld(),
        isUnknown: async (id) => (await log.endsAt(id)) === 0,
      });
    this.profiles = projector('AGENT_PROFILES', new KvProfiles(nc), ({ deviceId, session }, stored) =>
      metrics.toShow(deviceId, session, stored),
    );
    const rows = options.stores.map((store) =>
      projector(store.name, store, ({ deviceId, session }) => metrics.of(deviceId, session)),
    );
    this.projectors = [this.profiles, ...rows];
    this.revokedGrants = new RevokedGrantsProjector({ store: new KvRevokedGrants(nc), state, clock, logger });
    this.follower = new FleetConsumer({ nc, state, logger, changed: (id) => this.changed(id) });
    this.looks = new DirtyKeys({
      process: (id) => this.fleet.look(id, { kind: 'presence', id }),
      failed: (error, deviceId, failures) =>
        logger[failures === 1 ? 'warn' : 'debug']({ reason: String(error), deviceId, failures }, 'cannot look now'),
    });
    this.presence = new PresenceConsumer({
      nc,
      logger,
      view: {
        isRecorded: (presence) => isRecorded(state.get(presence.deviceId)?.device, presence),
        connected: () => connectedDevices(state),
        hint: (id) => this.looks.mark(id),
        // Metrics are for the scheduler and for people who look now: no row is written for them.
        seen: (presence) => {
          if (metrics.take(presence)) this.profiles.changed(presence.deviceId);
        },
        gone: (id) => metrics.gone(id),
      },
    });
    const presence = (id: DeviceId) => this.presence.read(id);
    const timers = new DeviceTimers(nc);
    this.fleet = new FleetHandler({ log, state, timers, presence, clock, instance, graceMs, logger });
  }

  /** Resolves when FLEET is folded and everything runs; waits for streams that do not exist yet. */
  async start(): Promise<void> {
    const { nc, clock, logger, seed, credentialMs } = this.options;
    const { signal } = this.stopping;
    const end = await untilItWorks(() => this.follower.lastSequence(), { what: 'FLEET', logger, signal });
    this.run(this.follower.follow(signal));
    while (!(await this.follower.reached(end, signal, FOLD_LOOK_MS_MAX))) signal.throwIfAborted();
    const report = (error: unknown): void => logger.warn({ reason: String(error) }, 'actors: watching again');
    this.actors = await untilItWorks(() => Actors.open(nc, report), { what: 'ACTORS', logger, signal });
    for (const projector of [...this.projectors, this.revokedGrants]) this.run(projector.run(signal));
    this.run(this.looks.run(signal));
    this.run(this.presence.run(signal));
    this.due = consumeDue(nc, this.fleet, logger);
    const { fleet, state, metrics, follower: consumer, profiles, revokedGrants, actors } = this;
    const issuer = new CredentialIssuer({ seed, lifeMs: credentialMs });
    const identities = new IdentityHandler({ fleet, state, consumer, issuer, clock, signal });
    const views = { state, metrics, profiles, revokedGrants, actors, consumer };
    const ports = { nc, fleet, identities, ...views, clock, logger, signal };
    this.queries = await serveRegistry(ports);
  }

  /** Takes nothing more on, ends what is in work. Safe to call twice, and before `start` is over. */
  async stop(): Promise<void> {
    await this.queries?.stop();
    this.stopping.abort();
    await this.due?.stop();
    await this.actors?.stop();
    await Promise.allSettled(this.running);
  }

  /** What is said of the whole fleet changes the profile of every device. */
  private changed(id: DeviceId): void {
    if (id === GRANTS_ID) return this.revokedGrants.changed();
    const changed = id === FLEET_ID ? this.state.all().map(({ deviceId }) => deviceId) : [id];
    for (const projector of this.projectors) for (const deviceId of changed) projector.changed(deviceId);
  }

  /** A loop that fails is a bug or a broken promise of the log: nobody catches it, the process ends and starts anew. */
  private run(loop: Promise<unknown>): void {
    this.running.push(loop);
  }
}

function* connectedDevices(state: FleetState): Generator<DeviceId> {
  for (const device of state.all()) if (liveSession(device) !== undefined) yield device.deviceId;
}
