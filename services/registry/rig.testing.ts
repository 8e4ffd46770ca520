import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import { createUser } from '@nats-io/nkeys';
import type { NatsConnection } from '@nats-io/transport-node';
import { expect } from '@jest/globals';
import { BUCKETS, subjects } from '#proto';
import type { Actor, AgentProfile, DeviceId, FleetEventType, Identity, Presence } from '#proto';
import { openFleetLog } from '#libs/event-log';
import { makeDeviceSecret, makeJoinAssertion, proveActor, tokenHash, type DeviceSecret } from '#libs/keys';
import { connectBus, query, type QueryAnswer } from '#libs/messaging';
import { systemClock, type Clock } from '#libs/platform';
import {
  askRaw,
  asksAs,
  moment,
  startReplica,
  startTestNats,
  type Replica as Service,
  type TestNats,
} from '#libs/testing';
import { evolveDeviceCommit, type Device } from '#libs/fleet';
import { telemetry } from './given.testing.js';
import { KvProfiles } from './projections/kv-profiles.adapter.js';
import { profileOf } from './projections/profile.js';
import type { ProfileStore } from './projections/profile-store.js';
import { REGISTRY_CONFIG, RegistryModule, ROWS, SEED } from './registry.module.js';

const GRACE_MS = 400;
const CREDENTIAL_MS = 3_600_000;
/** How long a presence lasts that nobody renews: a gateway would, and a test takes as long as the machine lets it. */
const PRESENCE_MS = 3_600_000;
const DEDUPE_MS = 1_000;
const NANOS_PER_MS = 1_000_000;

/** For replicas without a database. */
const NOWHERE: ProfileStore & { readonly name: string } = {
  name: 'nowhere',
  write: async (_, newest) => void (await newest()),
  remove: async () => undefined,
  list: async () => [],
};

interface Replica {
  readonly registry: Service;
  readonly nc: NatsConnection;
}

interface ReplicaOptions {
  readonly graceMs?: number;
  readonly instance?: string;
  readonly store?: ProfileStore & { readonly name: string };
  readonly clock?: Clock;
  readonly credentialMs?: number;
  readonly actorsFile?: string;
}

/** Waiting is for a fact, and ends only with the test's own limit. */
export async function until<T>(read: () => Promise<T>, wanted: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await read();
    if (wanted(value)) return value;
    await moment();
  }
}

/** Who enrols devices. */
const OLGA: Actor = { kind: 'person', id: 'olga' };

/** A server, replicas of the registry on it, and those who meet them there: gateways, administrators, operators. */
export class Rig {
  readonly server: TestNats;
  readonly nc: NatsConnection;
  /** All replicas sign with it. */
  readonly seed = new TextDecoder().decode(createUser().getSeed());
  readonly #presence: KV;
  readonly #profiles: KvProfiles;
  readonly #running = new Set<Replica>();

  private constructor(server: TestNats, nc: NatsConnection, presence: KV) {
    this.server = server;
    this.nc = nc;
    this.#presence = presence;
    this.#profiles = new KvProfiles(nc);
  }

  static async start(): Promise<Rig> {
    const server = await startTestNats({ provisioned: true });
    const nc = await connect(server, 'test');
    await asksAs(nc, OLGA);
    const rig = new Rig(server, nc, await new Kvm(jetstream(nc)).open(BUCKETS.PRESENCE.bucket));
    await rig.presencesLast();
    return rig;
  }

  async stop(): Promise<void> {
    await this.nc.close();
    await this.server.stop();
  }

  async startRegistry({
    graceMs = GRACE_MS,
    instance = 'a',
    store = NOWHERE,
    clock = systemClock,
    credentialMs = CREDENTIAL_MS,
    actorsFile,
  }: ReplicaOptions = {}): Promise<Replica> {
    const nc = await connect(this.server, `registry-${instance}`);
    const registry = await startReplica(RegistryModule, {
      service: 'registry',
      nc,
      instance,
      clock,
      providers: [
        { provide: REGISTRY_CONFIG, useValue: { graceMs, credentialMs, actorsFile } },
        { provide: SEED, useValue: this.seed },
        { provide: ROWS, useValue: store },
      ],
    });
    const replica = { registry, nc };
    this.#running.add(replica);
    return replica;
  }

  async stopRegistries(): Promise<void> {
    for (const { registry, nc } of this.#running) {
      await registry.stop();
      await nc.close();
    }
    this.#running.clear();
  }

  /** As a killed process: nothing is said to anybody. */
  async kill(replica: Replica): Promise<void> {
    this.#running.delete(replica);
    await replica.nc.close();
    await replica.registry.stop().catch(() => undefined);
  }

  async facts(deviceId: DeviceId): Promise<FleetEventType[]> {
    const stored = await openFleetLog(this.nc).load(deviceId);
    return stored.flatMap(({ commit }) => commit.events.map(({ type }) => type));
  }

  ends(deviceId: DeviceId, ...types: FleetEventType[]): Promise<FleetEventType[]> {
    return until(
      () => this.facts(deviceId),
      (found) => JSON.stringify(found) === JSON.stringify(types),
    );
  }

  /** The profile in KV. */
  profile(deviceId: DeviceId): Promise<AgentProfile | undefined> {
    return this.#profiles.read(deviceId);
  }

  /** The same once it is what the log says of the device. */
  async projected(deviceId: DeviceId): Promise<AgentProfile> {
    const stored = await openFleetLog(this.nc).load(deviceId);
    const device = stored.reduce<Device | undefined>(
      (before, { commit }) => evolveDeviceCommit(before, commit),
      undefined,
    );
    const wanted = device === undefined ? undefined : profileOf(device, null);
    const found = await until(
      () => this.profile(deviceId),
      (profile) => profile?.revision === wanted?.revision,
    );
    expect(found).toEqual(wanted);
    if (found === undefined) throw new Error('no profile');
    return found;
  }

  async appear(
    deviceId: DeviceId,
    sessionId: string,
    metrics?: Presence['metrics'],
    changes: Partial<Presence> = {},
  ): Promise<void> {
    const value: Presence = {
      deviceId,
      sessionId,
      gateway: 'gateway-1',
      journalId: 'journal-1',
      connectedAt: '2026-11-20T15:40:40.489Z',
      telemetry: telemetry({ hostname: deviceId }),
      ...(metrics === undefined ? {} : { metrics }),
      ...changes,
    };
    await this.#presence.put(deviceId, JSON.stringify(value));
  }

  /** How long a presence lasts from when it was said, also of those that are there. */
  async presencesLast(ms = PRESENCE_MS): Promise<void> {
    const jsm = await jetstreamManager(this.nc, { checkAPI: false });
    const lasts = { max_age: ms * NANOS_PER_MS, duplicate_window: Math.min(ms, DEDUPE_MS) * NANOS_PER_MS };
    await jsm.streams.update(`KV_${BUCKETS.PRESENCE.bucket}`, lasts);
  }

  vanish(deviceId: DeviceId): Promise<void> {
    return this.#presence.purge(deviceId);
  }

  enroll(deviceId?: DeviceId): Promise<{ deviceId: string; token: string }> {
    const request = deviceId === undefined ? {} : { deviceId, admin: { tags: ['db'], capabilities: [] } };
    return query(this.nc, 'registry', 'enroll', request);
  }

  /** Whose static token this is. */
  async authenticate(token: string): Promise<DeviceId | null> {
    return (await this.identify({ kind: 'token', tokenHash: tokenHash(token) }))?.id ?? null;
  }

  async identify(
    by: { kind: 'token'; tokenHash: string } | { kind: 'credential'; credential: string },
  ): Promise<Identity | null> {
    return (await query(this.nc, 'registry', 'identify', by)).identity;
  }

  /** A join token for a device, new or known. */
  async invite(deviceId: DeviceId): Promise<string> {
    return (await query(this.nc, 'registry', 'enroll', { deviceId, credential: 'join' })).token;
  }

  async join(
    token: string,
    { secret = makeDeviceSecret(), now = Date.now() }: { secret?: DeviceSecret; now?: number } = {},
  ): Promise<QueryAnswer<'registry', 'join'>> {
    const assertion = await makeJoinAssertion(secret, { token, now });
    return query(this.nc, 'registry', 'join', { tokenHash: tokenHash(token), assertion });
  }

  /** Asked by whoever has the seed. */
  revoke(id: DeviceId, { seed, reason }: { seed: string; reason?: string }): Promise<{ changed: boolean }> {
    return query(this.nc, 'registry', 'revoke', { id, reason }, { signer: { seed, now: Date.now } });
  }

  /** A hold or a release, asked by whoever has the seed; `signed`: what the proof is for. */
  order(
    name: 'hold' | 'release',
    deviceId: DeviceId | null,
    { seed, reason, screen, signed = name }: { seed: string; reason?: string; screen?: true; signed?: string },
  ): Promise<{ changed: boolean; devices: number }> {
    const body = { deviceId, ...(reason === undefined ? {} : { reason }), ...(screen === true && { screen }) };
    const at = new Date().toISOString();
    const actor = proveActor(seed, { subject: subjects.query('registry', signed), at, body });
    return askRaw(this.nc, subjects.query('registry', name), { ...body, actor }) as Promise<never>;
  }
}

function connect(server: TestNats, name: string): Promise<NatsConnection> {
  return connectBus({ url: server.url, name, inboxPrefix: `_INBOX_${name}` });
}
