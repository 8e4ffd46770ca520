import type { DeviceId, DeviceKey, Identity } from '#proto';
import {
  thumbprintOf,
  verifyJoinAssertion,
  verifyRenewAssertion,
  type AssertionRefused,
  type CredentialIssuer,
} from '#libs/keys';
import { QueryRefusedError, type QueryAnswer, type QueryRequest } from '#libs/messaging';
import type { Clock } from '#libs/platform';
import type { FleetConsumer } from './fleet.consumer.js';
import type { FleetHandler } from './fleet.handler.js';
import type { FleetState } from '#libs/fleet';
import { refusalOf } from './refusals.js';

interface IdentityPorts {
  readonly fleet: Pick<FleetHandler, 'join'>;
  readonly state: FleetState;
  readonly consumer: Pick<FleetConsumer, 'newest' | 'reached' | 'position'>;
  readonly issuer: CredentialIssuer;
  readonly clock: Clock;
}

type Issued = QueryAnswer<'registry', 'join'>;
type Proven = Extract<Awaited<ReturnType<typeof verifyJoinAssertion>>, { ok: true }>;

/**
 * Who somebody is, and the credentials that say so. Every answer is given from all that was in FLEET when the question came:
 * another replica may have enrolled the device a moment ago, and may have revoked it.
 */
export class IdentityHandler {
  readonly #ports: IdentityPorts;

  constructor(ports: IdentityPorts) {
    this.#ports = ports;
  }

  async identify(request: QueryRequest<'registry', 'identify'>): Promise<Identity | null> {
    await this.#upToDate();
    return request.kind === 'token' ? this.#holderOf(request.tokenHash) : this.#deviceBehind(request.credential);
  }

  /** Throws with the reason when the token or the assertion is no good. */
  async join({ tokenHash, assertion }: QueryRequest<'registry', 'join'>): Promise<Issued> {
    const { fleet, state, clock } = this.#ports;
    const proven = await verifyJoinAssertion(assertion, { tokenHash, now: clock.now() });
    if (!proven.ok) throw refused(proven);
    await this.#upToDate();
    const deviceId = state.deviceToJoin(tokenHash);
    if (deviceId === undefined) throw new QueryRefusedError(refusalOf('TOKEN_UNKNOWN', ''));
    const { publicKey } = proven;
    await fleet.join(deviceId, { tokenHash, publicKey });
    return this.#issue(deviceId, proven);
  }

  async renew({ assertion }: QueryRequest<'registry', 'renew'>): Promise<Issued> {
    const { clock } = this.#ports;
    await this.#upToDate();
    const keyOf = (deviceId: DeviceId): DeviceKey | undefined => this.#keyOf(deviceId);
    const proven = await verifyRenewAssertion(assertion, { keyOf, now: clock.now() });
    if (!proven.ok) throw refused(proven);
    return this.#issue(proven.deviceId, proven);
  }

  async revocations(after: number): Promise<QueryAnswer<'registry', 'revocations'>> {
    const { state, consumer } = this.#ports;
    await this.#upToDate();
    // A replica that answered before may have known more than this one.
    const sequence = Math.max(after, consumer.position);
    return { sequence, revoked: state.cutOffBetween(after, sequence) };
  }

  #holderOf(tokenHash: string): Identity | null {
    const { state } = this.#ports;
    const id = state.ownerOf(tokenHash);
    const device = id === undefined ? undefined : state.get(id)?.device;
    if (device?.revoked === null) return ofDevice(device.deviceId, null);
    const client = id === undefined ? undefined : state.client(id);
    if (client?.revoked !== null) return null;
    return { id: client.clientId, role: client.role, targets: client.targets, expiresAt: null };
  }

  async #deviceBehind(credential: string): Promise<Identity | null> {
    const { issuer, clock } = this.#ports;
    const claims = await issuer.read(credential, clock.now());
    const key = claims === undefined ? undefined : this.#keyOf(claims.deviceId);
    if (claims === undefined || key === undefined) return null;
    // The device may have another key since: what the old one was given counts no more.
    return (await thumbprintOf(key)) === claims.thumbprint ? ofDevice(claims.deviceId, claims.expiresAt) : null;
  }

  #keyOf(deviceId: DeviceId): DeviceKey | undefined {
    const device = this.#ports.state.get(deviceId)?.device;
    return device?.revoked === null ? device.key?.publicKey : undefined;
  }

  /** The same assertion is answered with the same credential, by every replica. */
  async #issue(deviceId: DeviceId, { publicKey, assertion }: Proven): Promise<Issued> {
    return { deviceId, ...(await this.#ports.issuer.issue(deviceId, publicKey, assertion)) };
  }

  /** "No" from somebody who has not seen everything would send away who may come in, "yes" would let in who may not. */
  async #upToDate(): Promise<void> {
    const { consumer } = this.#ports;
    if (await consumer.reached(await consumer.newest())) return;
    const message = 'The registry has not read everything yet; ask again.';
    throw new QueryRefusedError({ code: 'TRY_AGAIN', message, issues: [] });
  }
}

function ofDevice(id: DeviceId, expiresAt: string | null): Identity {
  return { id, role: 'device', targets: null, expiresAt };
}

function refused({ code, reason }: AssertionRefused): QueryRefusedError {
  return new QueryRefusedError({ code, message: reason, issues: [] });
}
