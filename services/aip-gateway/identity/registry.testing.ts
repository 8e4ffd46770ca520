import { randomBytes, randomUUID } from 'node:crypto';
import { createUser } from '@nats-io/nkeys';
import type { NatsConnection } from '@nats-io/transport-node';
import { CredentialIssuer, newJoinToken, tokenHash, verifyJoinAssertion, verifyRenewAssertion } from '#libs/keys';
import { QueryRefusedError, serveQueries, type QueryAnswer, type QueryHandlers, type Served } from '#libs/messaging';
import type { Clock } from '#libs/platform';
import { ANYBODY } from '#libs/testing';
import type { DeviceId, DeviceKey, Identity, RefusalCode } from '#proto';

interface Known {
  readonly tokenHash: string | undefined;
  readonly join: { readonly tokenHash: string; readonly untilMs: number } | undefined;
  readonly key: { readonly publicKey: DeviceKey; readonly tokenHash: string } | undefined;
}

type Issued = QueryAnswer<'registry', 'join'>;

/** What the registry answers to a gateway, with real tokens, keys and credentials and without a log. */
export class StandInRegistry {
  /** How long the next credentials last. */
  lifeMs: number;
  readonly #clock: Clock;
  readonly #seed = new TextDecoder().decode(createUser().getSeed());
  readonly #devices = new Map<DeviceId, Known>();
  readonly #revoked: DeviceId[] = [];
  #served: Served | undefined;

  constructor(lifeMs: number, clock: Clock) {
    this.lifeMs = lifeMs;
    this.#clock = clock;
  }

  async serve(nc: NatsConnection): Promise<void> {
    // The queries of others are never asked here.
    this.#served = await serveQueries(nc, 'registry', this.#handlers() as QueryHandlers<'registry'>, {
      authority: ANYBODY,
    });
  }

  async stop(): Promise<void> {
    await this.#served?.stop();
  }

  /** A join token for this device. */
  enrol(deviceId: DeviceId, goodForMs = 60_000): string {
    const token = newJoinToken();
    const join = { tokenHash: tokenHash(token), untilMs: this.#clock.now() + goodForMs };
    this.#devices.set(deviceId, { tokenHash: undefined, key: undefined, ...this.#devices.get(deviceId), join });
    return token;
  }

  /** A static token; the one before counts no more. */
  enrolStatic(deviceId: DeviceId): string {
    const token = randomBytes(32).toString('base64url');
    if (this.#devices.has(deviceId)) this.#revoked.push(deviceId);
    this.#devices.set(deviceId, { tokenHash: tokenHash(token), join: undefined, key: undefined });
    return token;
  }

  revoke(deviceId: DeviceId): void {
    this.#devices.delete(deviceId);
    this.#revoked.push(deviceId);
  }

  #handlers(): Pick<QueryHandlers<'registry'>, 'identify' | 'join' | 'renew' | 'revocations'> {
    return {
      identify: async (request) => ({
        identity:
          request.kind === 'token' ? this.#holderOf(request.tokenHash) : await this.#deviceBehind(request.credential),
      }),
      join: async ({ tokenHash: hash, assertion }) => this.#join(hash, assertion),
      renew: async ({ assertion }) => this.#renew(assertion),
      revocations: async ({ after }) => ({ sequence: this.#revoked.length, revoked: this.#revoked.slice(after) }),
    };
  }

  #holderOf(hash: string): Identity | null {
    const [id] = [...this.#devices].find(([, known]) => known.tokenHash === hash) ?? [];
    return id === undefined ? null : { id, role: 'device', targets: null, expiresAt: null };
  }

  async #deviceBehind(credential: string): Promise<Identity | null> {
    const claims = await this.#issuer().read(credential, this.#clock.now());
    if (claims === undefined || !this.#devices.has(claims.deviceId)) return null;
    return { id: claims.deviceId, role: 'device', targets: null, expiresAt: claims.expiresAt };
  }

  async #join(hash: string, assertion: string): Promise<Issued> {
    const [deviceId, known] =
      [...this.#devices].find(([, { join, key }]) => join?.tokenHash === hash || key?.tokenHash === hash) ?? [];
    if (deviceId === undefined || known === undefined) throw refused('TOKEN_UNKNOWN');
    const proven = await verifyJoinAssertion(assertion, { tokenHash: hash, now: this.#clock.now() });
    if (!proven.ok) throw refused(proven.code, proven.reason);
    const { publicKey } = proven;
    if (known.key?.tokenHash === hash && known.key.publicKey !== publicKey) throw refused('TOKEN_USED');
    if (known.key?.tokenHash !== hash && (known.join?.untilMs ?? 0) <= this.#clock.now())
      throw refused('TOKEN_EXPIRED');
    this.#devices.set(deviceId, { ...known, join: undefined, key: { publicKey, tokenHash: hash } });
    return this.#issue(deviceId, publicKey);
  }

  async #renew(assertion: string): Promise<Issued> {
    const keyOf = (deviceId: DeviceId): DeviceKey | undefined => this.#devices.get(deviceId)?.key?.publicKey;
    const proven = await verifyRenewAssertion(assertion, { keyOf, now: this.#clock.now() });
    if (!proven.ok) throw refused(proven.code, proven.reason);
    return this.#issue(proven.deviceId, keyOf(proven.deviceId) ?? '');
  }

  #issuer(): CredentialIssuer {
    return new CredentialIssuer({ seed: this.#seed, lifeMs: this.lifeMs });
  }

  async #issue(deviceId: DeviceId, key: DeviceKey): Promise<Issued> {
    return { deviceId, ...(await this.#issuer().issue(deviceId, key, { at: this.#clock.now(), id: randomUUID() })) };
  }
}

const refused = (code: RefusalCode, message = 'no'): QueryRefusedError =>
  new QueryRefusedError({ code, message, issues: [] });
