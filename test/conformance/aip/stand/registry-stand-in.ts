import { createHash, randomUUID } from 'node:crypto';
import { Kvm, type KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import {
  entryValue,
  followBucket,
  QueryRefusedError,
  serveQueries,
  type BucketEntry,
  type QueryHandlers,
} from '#libs/messaging';
import { ANYBODY } from '#libs/testing';
import { BUCKETS, Presence } from '#proto';
import type { AgentProfile, ClientRole, DeviceId, Identity, Instant } from '#proto';
import type { Revoker } from '../driver.js';
import type { Account } from '../lab.js';

interface Known extends Account {
  readonly role: ClientRole;
}

const hashOf = (token: string): string => createHash('sha256').update(token).digest('hex');

/**
 * The part of the registry that a gateway asks: who somebody is and who no longer, and the profiles of those who are
 * connected. Everything else it refuses.
 */
export class RegistryStandIn implements Revoker {
  readonly #byHash = new Map<string, Known>();
  readonly #credentials = new Map<string, { readonly id: string; readonly expiresAt: Instant }>();
  /** In the order of their revocation: the place in it is the position that gateways ask with. */
  readonly #revoked: DeviceId[] = [];
  #served: { stop(): Promise<void> } | undefined;
  #following: Promise<void> | undefined;
  readonly #stopped = new AbortController();
  /** Profiles are written one after the other, in the order of what is known of PRESENCE. */
  #written: Promise<unknown> = Promise.resolve();

  /** Answers on the bus, and keeps AGENT_PROFILES as PRESENCE says. */
  async start(nc: NatsConnection): Promise<void> {
    this.#served = await serveQueries(nc, 'registry', this.#handlers(), { authority: ANYBODY });
    const kvm = new Kvm(nc);
    const profiles = await kvm.open(BUCKETS.AGENT_PROFILES.bucket, { bindOnly: true });
    const following = followBucket(nc, {
      bucket: BUCKETS.PRESENCE.bucket,
      look: () => ({ take: (entry) => this.#seen(entry, profiles) }),
      report: () => undefined,
      signal: this.#stopped.signal,
    });
    this.#following = following.over;
    await following.loaded;
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#following;
    await this.#written;
    await this.#served?.stop();
  }

  admit(role: ClientRole, id: string): Account {
    const account = { id, token: `secret-of-${id}-${randomUUID()}` };
    this.#byHash.set(hashOf(account.token), { ...account, role });
    return account;
  }

  newAccount(role: ClientRole): Promise<Account> {
    return Promise.resolve(this.admit(role, `${role}-${randomUUID().slice(0, 8)}`));
  }

  revoke(id: string): Promise<void> {
    this.#revoked.push(id);
    return Promise.resolve();
  }

  /** Has the shape of a JWT and says nothing: what it stands for is known here only. */
  credentialOf(deviceId: string, expiresAtMs: number): Promise<string> {
    const part = (): string => Buffer.from(randomUUID()).toString('base64url');
    const credential = `${part()}.${part()}.${part()}`;
    this.#credentials.set(credential, { id: deviceId, expiresAt: new Date(expiresAtMs).toISOString() });
    return Promise.resolve(credential);
  }

  #handlers(): QueryHandlers<'registry'> {
    const no = (): never => {
      throw new QueryRefusedError({ code: 'NOT_FOUND', message: 'This is not a whole registry.', issues: [] });
    };
    const others = Object.fromEntries(OTHERS.map((name) => [name, no]));
    return {
      ...(others as unknown as Omit<QueryHandlers<'registry'>, 'identify' | 'revocations'>),
      identify: (request) => {
        const identity =
          request.kind === 'token' ? this.#byToken(request.tokenHash) : this.#byCredential(request.credential);
        return Promise.resolve({ identity });
      },
      revocations: ({ after }) =>
        Promise.resolve({ sequence: this.#revoked.length, revoked: this.#revoked.slice(after) }),
    };
  }

  #byToken(hash: string): Identity | null {
    const known = this.#byHash.get(hash);
    if (known === undefined || this.#revoked.includes(known.id)) return null;
    return { id: known.id, role: known.role, targets: null, expiresAt: null };
  }

  #byCredential(credential: string): Identity | null {
    const known = this.#credentials.get(credential);
    if (known === undefined || this.#revoked.includes(known.id) || Date.parse(known.expiresAt) <= Date.now())
      return null;
    return { ...known, role: 'device', targets: null };
  }

  #seen(entry: BucketEntry, profiles: KV): void {
    const presence = entryValue(entry, Presence) ?? null;
    const profile = JSON.stringify(profileOf(entry.key, presence));
    this.#written = this.#written.then(() => profiles.put(entry.key, profile));
  }
}

const OTHERS = [
  'devices',
  'enroll',
  'enroll-client',
  'clients',
  'revoke',
  'join',
  'renew',
  'hold',
  'release',
] as const satisfies readonly (keyof QueryHandlers<'registry'>)[];

/** No grace period here: who is not connected is lost. */
function profileOf(deviceId: DeviceId, presence: Presence | null): AgentProfile {
  const { telemetry, sessionId, gateway, journalId, connectedAt } = presence ?? NOBODY;
  return {
    deviceId,
    status: presence === null ? 'lost' : 'connected',
    agent: 'LinuxAgent',
    os: telemetry.platform,
    arch: telemetry.arch,
    hostname: telemetry.hostname,
    capabilities: telemetry.capabilities,
    tags: [],
    tools: telemetry.tools,
    resources: { cpuCount: telemetry.cpuCount, memoryMb: telemetry.memoryMb },
    tasksMax: 8,
    held: null,
    session: presence === null ? null : { sessionId, gateway, journalId, connectedAt },
    revision: 1,
    enrolledAt: ENROLLED_AT,
    changedAt: connectedAt,
  };
}

const ENROLLED_AT = '2026-01-01T00:00:00.000Z';
const NOBODY = {
  sessionId: '',
  gateway: '',
  journalId: null,
  connectedAt: ENROLLED_AT,
  telemetry: {
    platform: 'linux',
    arch: '',
    hostname: '',
    cpuCount: 0,
    memoryMb: 0,
    capabilities: [],
    tools: [],
  },
};
