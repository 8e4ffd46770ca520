import { isDeepStrictEqual } from 'node:util';
import { Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { Actors, authorityOf, serveQueries, type QueryAnswer, type Served } from '#libs/messaging';
import { notAsked } from '#libs/testing';
import { BUCKETS, type AgentProfile, type DeviceHold, type DeviceId, type RevokedGrants } from '#proto';

const NOW = '2026-11-20T12:00:00.000Z';
export const JOIN_TOKEN = `join-${'A'.repeat(22)}`;
export const STATIC_TOKEN = 'S'.repeat(43);

type ListedClient = QueryAnswer<'registry', 'clients'>['clients'][number];

/** What stands for the registry: the devices db-1 and web-1, and whatever it was told. Grants are revoked on the bus, too. */
export class FakeRegistry {
  /** By device, `null` for the whole fleet. */
  readonly holds = new Map<DeviceId | null, DeviceHold>();
  /** Those that have taken a screen over. */
  readonly screens = new Map<DeviceId | null, DeviceHold>();
  readonly profiles = new Map<DeviceId, Partial<AgentProfile>>();
  readonly clients: ListedClient[] = [];
  readonly people: QueryAnswer<'registry', 'people'>['people'] = [];
  /** What was asked, as it came. */
  readonly asked: object[] = [];
  readonly revoked = new Map<DeviceId, string>();
  readonly revokedGrants: RevokedGrants[] = [];
  /** How far its clock is ahead. */
  aheadMs = 0;
  readonly #actors: Actors;
  #served: Served | undefined;

  private constructor(actors: Actors) {
    this.#actors = actors;
  }

  static async start(nc: NatsConnection): Promise<FakeRegistry> {
    const registry = new FakeRegistry(await Actors.open(nc));
    await registry.#serve(nc);
    return registry;
  }

  /** What its clock shows from now on. */
  showTime(ms: number): void {
    this.aheadMs = ms - Date.parse(NOW);
  }

  forget(): void {
    for (const known of [this.holds, this.screens, this.profiles, this.revoked]) known.clear();
    this.clients.length = 0;
    this.asked.length = 0;
    this.revokedGrants.length = 0;
    this.aheadMs = 0;
  }

  async stop(): Promise<void> {
    await this.#served?.stop();
    await this.#actors.end();
  }

  async #serve(nc: NatsConnection): Promise<void> {
    const authority = authorityOf(this.#actors, { now: () => Date.parse(NOW) + this.aheadMs });
    this.#served = await serveQueries(
      nc,
      'registry',
      {
        ...notAsked('registry'),
        people: async () => ({ people: this.people }),
        devices: async () => ({ devices: ['db-1', 'web-1'].map((id) => this.#profile(id)) }),
        clients: async () => ({ clients: this.clients }),
        enroll: async (request) => {
          this.asked.push(request);
          const { deviceId = 'device-1', credential } = request;
          if (credential !== 'join') return { deviceId, token: STATIC_TOKEN };
          return { deviceId, token: JOIN_TOKEN, expiresAt: '2026-11-20T12:15:00.000Z' };
        },
        'enroll-client': async (request) => {
          this.asked.push(request);
          return { clientId: request.clientId ?? 'client-1', token: STATIC_TOKEN };
        },
        hold: async (request, { actor: by }) => {
          const holds = request.screen === true ? this.screens : this.holds;
          const changed = !holds.has(request.deviceId);
          if (changed) holds.set(request.deviceId, { by, reason: request.reason ?? '', heldAt: NOW });
          return { changed, devices: 1 };
        },
        release: async (request) => {
          const holds = request.screen === true ? this.screens : this.holds;
          return { changed: holds.delete(request.deviceId), devices: 1 };
        },
        revoke: async (request, { actor: by }) => {
          const changed = !this.revoked.has(request.id);
          if (changed) this.revoked.set(request.id, `${by.id}: ${request.reason ?? ''}`);
          return { changed };
        },
        'revoke-grants': async (request, { actor: by, proof }) => {
          this.asked.push(request);
          const { grants, reason = '' } = request;
          const known = this.revokedGrants.some((one) => isDeepStrictEqual(one.grants, grants));
          if (known) return { changed: false };
          const { key, at } = proof;
          const which = grants.kind === 'grant' ? grants : { ...grants, key, signedUntil: at };
          const revoked: RevokedGrants = { by, reason, revokedAt: at, grants: which };
          const bucket = await new Kvm(nc).open(BUCKETS.REVOKED_GRANTS.bucket);
          await bucket.put(String(this.revokedGrants.push(revoked)), JSON.stringify(revoked));
          return { changed: true };
        },
        'revoked-grants': async () => ({ revoked: this.revokedGrants }),
      },
      { authority },
    );
  }

  #profile(deviceId: DeviceId): AgentProfile {
    return {
      deviceId,
      status: 'connected',
      agent: 'LinuxAgent',
      os: 'linux',
      arch: 'x64',
      hostname: `${deviceId}.example.org`,
      capabilities: ['cli'],
      tags: [],
      tools: [],
      resources: { cpuCount: 1, memoryMb: 1 },
      tasksMax: 8,
      session: null,
      revision: 1,
      enrolledAt: NOW,
      changedAt: NOW,
      ...this.profiles.get(deviceId),
      held: this.holds.get(deviceId) ?? this.holds.get(null) ?? null,
      ...(this.screens.has(deviceId) && { taken: this.screens.get(deviceId) }),
    };
  }
}
