import { describe, expect, it } from '@jest/globals';
import { createUser } from '@nats-io/nkeys';
import type { DeviceId, FleetEvent } from '#proto';
import { NO_COMMITS, sealNext } from '#libs/event-log';
import {
  CredentialIssuer,
  makeDeviceSecret,
  makeJoinAssertion,
  makeRenewAssertion,
  publicKeyOf,
  tokenHash,
} from '#libs/keys';
import { FleetState } from '#libs/fleet';
import {
  CLIENT_ID,
  clientEnrolled,
  clientRevoked,
  DEVICE_ID,
  enrolled,
  invited,
  joined,
  revoked,
  T0,
} from '../given.testing.js';
import { IdentityHandler } from './identity.handler.js';

const SEED = new TextDecoder().decode(createUser().getSeed());
const issuer = new CredentialIssuer({ seed: SEED, lifeMs: 3_600_000 });
const secret = makeDeviceSecret();
const KEY = publicKeyOf(secret);
const TOKEN_HASH = tokenHash('static');
const JOIN_TOKEN = `join-${'A'.repeat(22)}`;

/** A replica that has read `known`, with more in the log that it has not: it reads that when it is told to, and can. */
class Replica {
  readonly state = new FleetState();
  readonly joins: DeviceId[] = [];
  readonly handler: IdentityHandler;
  #sequence = 0;
  position = 0;

  constructor(
    id: DeviceId,
    { known, unread = [], stuck = false }: { known: FleetEvent[]; unread?: FleetEvent[]; stuck?: boolean },
  ) {
    const read = (events: FleetEvent[]): void => {
      for (const event of events) this.#append(id, event);
      this.position = this.#sequence;
    };
    read(known);
    const newest = this.#sequence + unread.length;
    const consumer = {
      newest: () => Promise.resolve(newest),
      reached: async (): Promise<boolean> => {
        if (!stuck) read(unread.splice(0));
        return this.position >= newest;
      },
      position: 0,
    };
    Object.defineProperty(consumer, 'position', { get: () => this.position });
    const fleet = { join: async (deviceId: DeviceId) => void this.joins.push(deviceId) };
    this.handler = new IdentityHandler({
      fleet,
      state: this.state,
      consumer,
      issuer,
      clock: { now: () => T0 },
    });
  }

  #append(id: DeviceId, event: FleetEvent): void {
    this.#sequence += 1;
    const stamp = { commit: `c${this.#sequence}`, now: T0, by: { service: 'registry', instance: 'a' }, causes: [] };
    const commit = sealNext(this.state.endOf(id) ?? NO_COMMITS, { deviceId: id }, [event], stamp);
    this.state.apply({ commit, sequence: this.#sequence });
  }
}

const byToken = { kind: 'token', tokenHash: TOKEN_HASH } as const;
const byCredential = async () => ({
  kind: 'credential' as const,
  credential: (await issuer.issue(DEVICE_ID, KEY, { at: T0, id: 'asserted' })).credential,
});

describe('a replica that is behind', () => {
  it('reads the rest before it says that somebody is nobody', async () => {
    const late = new Replica(DEVICE_ID, { known: [], unread: [enrolled({}, TOKEN_HASH)] });
    expect(await late.handler.identify(byToken)).toMatchObject({ id: DEVICE_ID });
    const client = new Replica(CLIENT_ID, { known: [], unread: [clientEnrolled(TOKEN_HASH)] });
    expect(await client.handler.identify(byToken)).toMatchObject({ id: CLIENT_ID, role: 'constellation' });
    const device = new Replica(DEVICE_ID, { known: [invited()], unread: [joined(KEY)] });
    expect(await device.handler.identify(await byCredential())).toMatchObject({ id: DEVICE_ID });
  });

  it('reads the rest before it lets anybody in', async () => {
    const device = new Replica(DEVICE_ID, { known: [enrolled({}, TOKEN_HASH)], unread: [revoked()] });
    expect(await device.handler.identify(byToken)).toBeNull();
    const joinedOne = new Replica(DEVICE_ID, { known: [invited(), joined(KEY)], unread: [revoked()] });
    expect(await joinedOne.handler.identify(await byCredential())).toBeNull();
    const client = new Replica(CLIENT_ID, { known: [clientEnrolled(TOKEN_HASH)], unread: [clientRevoked()] });
    expect(await client.handler.identify(byToken)).toBeNull();
  });

  it('reads the rest before it gives out credentials', async () => {
    const gone = new Replica(DEVICE_ID, { known: [invited(), joined(KEY)], unread: [revoked()] });
    const assertion = await makeRenewAssertion(secret, { deviceId: DEVICE_ID, now: T0 });
    await expect(gone.handler.renew({ assertion })).rejects.toThrow(/is of no device that has joined/u);
    const late = new Replica(DEVICE_ID, { known: [], unread: [invited(tokenHash(JOIN_TOKEN))] });
    const joining = await makeJoinAssertion(secret, { token: JOIN_TOKEN, now: T0 });
    const issued = await late.handler.join({ tokenHash: tokenHash(JOIN_TOKEN), assertion: joining });
    expect([issued.deviceId, late.joins]).toEqual([DEVICE_ID, [DEVICE_ID]]);
  });

  it('reads the rest before it says who was cut off, and never goes back', async () => {
    const late = new Replica(DEVICE_ID, { known: [invited(), joined(KEY)], unread: [revoked()] });
    expect(await late.handler.revocations(2)).toEqual({ sequence: 3, revoked: [DEVICE_ID] });
    expect(await late.handler.revocations(9)).toEqual({ sequence: 9, revoked: [] });
  });

  it('and cannot read it says neither yes nor no', async () => {
    const stuck = new Replica(DEVICE_ID, { known: [enrolled({}, TOKEN_HASH)], unread: [revoked()], stuck: true });
    const refusal = { refusal: { code: 'TRY_AGAIN' } };
    await expect(stuck.handler.identify(byToken)).rejects.toMatchObject(refusal);
    await expect(stuck.handler.revocations(0)).rejects.toMatchObject(refusal);
  });
});
