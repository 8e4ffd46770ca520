import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { SignJWT } from 'jose';
import { LIMITS, type Actor } from '#proto';
import { openFleetLog, verifyChain } from '#libs/event-log';
import {
  CredentialIssuer,
  makeDeviceSecret,
  makeJoinAssertion,
  makeRenewAssertion,
  publicKeyOf,
  tokenHash,
  type DeviceSecret,
} from '#libs/keys';
import { query, QueryRefusedError } from '#libs/messaging';
import { introduce } from '#libs/testing';
import { Rig } from '../rig.testing.js';

const ANNA: Actor = { kind: 'person', id: 'anna' };

let rig: Rig;
let seed: string;
beforeAll(async () => {
  rig = await Rig.start();
  seed = await introduce(rig.nc, ANNA);
});
afterEach(() => rig.stopRegistries());
afterAll(() => rig.stop());

const reasonOf = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => 'done',
    (error: unknown) => (error instanceof QueryRefusedError ? error.refusal.code : error),
  );
const whoHas = (credential: string) => rig.identify({ kind: 'credential', credential });
const renew = async (deviceId: string, secret: DeviceSecret, now = Date.now()) =>
  query(rig.nc, 'registry', 'renew', { assertion: await makeRenewAssertion(secret, { deviceId, now }) });
const identityOf = (id: string, expiresAt: string | null) => ({ id, role: 'device', targets: null, expiresAt });

describe('joining', () => {
  it('gives a device that has a join token a credential for its own key', async () => {
    await rig.startRegistry();
    const token = await rig.invite('joins-1');
    expect(await rig.projected('joins-1')).toMatchObject({ credential: null });
    const { deviceId, credential, expiresAt } = await rig.join(token);
    expect(deviceId).toBe('joins-1');
    expect(await whoHas(credential)).toEqual(identityOf('joins-1', expiresAt));
    expect(Math.abs(Date.parse(expiresAt) - Date.now() - LIMITS.credentialMs)).toBeLessThan(60_000);
    expect(await rig.projected('joins-1')).toMatchObject({ credential: 'key', revoked: null });
    const log = JSON.stringify(await openFleetLog(rig.nc).load('joins-1'));
    for (const secret of [token, credential]) expect(log).not.toContain(secret);
  });

  it('makes nobody of a join token: it is no token to come in with', async () => {
    await rig.startRegistry();
    const token = await rig.invite('joins-2');
    expect(await rig.authenticate(token)).toBeNull();
    await rig.join(token);
    expect(await rig.authenticate(token)).toBeNull();
  });

  it('may be repeated when the answer was lost, with the same key only', async () => {
    await rig.startRegistry();
    const token = await rig.invite('joins-3');
    const secret = makeDeviceSecret();
    const first = await rig.join(token, { secret });
    const again = await rig.join(token, { secret });
    expect(again.credential).not.toBe(first.credential);
    expect(await whoHas(again.credential)).toMatchObject({ id: 'joins-3' });
    expect(await reasonOf(rig.join(token))).toBe('TOKEN_USED');
    expect(await rig.facts('joins-3')).toEqual(['DEVICE_ENROLLED', 'DEVICE_JOINED']);
  });

  it('and renewing get the first answer again for the same assertion, from every replica, and leave nothing new', async () => {
    const secret = makeDeviceSecret();
    const first = await rig.startRegistry({ instance: 'a' });
    const token = await rig.invite('repeated');
    const now = Date.now();
    const assertion = await makeJoinAssertion(secret, { token, now });
    const join = () => query(rig.nc, 'registry', 'join', { tokenHash: tokenHash(token), assertion });
    const renewal = { assertion: await makeRenewAssertion(secret, { deviceId: 'repeated', now }) };
    const again = () => query(rig.nc, 'registry', 'renew', renewal);
    const said = [await join(), await again()];
    await rig.startRegistry({ instance: 'b' });
    await rig.kill(first);
    expect([await join(), await again()]).toEqual(said);
    expect(said[0]?.credential).not.toBe(said[1]?.credential);
    expect(await rig.facts('repeated')).toEqual(['DEVICE_ENROLLED', 'DEVICE_JOINED']);
  });

  it('of two replicas at once, with one token and two keys, is won by exactly one', async () => {
    await rig.startRegistry({ instance: 'a' });
    await rig.startRegistry({ instance: 'b' });
    for (let round = 0; round < 8; round++) {
      const id = `raced-${round}`;
      const token = await rig.invite(id);
      const secrets = Array.from({ length: 6 }, () => makeDeviceSecret());
      const answers = await Promise.allSettled(secrets.map((secret) => rig.join(token, { secret })));
      const winners = secrets.filter((_, index) => answers[index]?.status === 'fulfilled');
      expect(winners).toHaveLength(1);
      const reasons = answers.flatMap((one) => (one.status === 'rejected' ? [one.reason.refusal?.code] : []));
      expect(reasons).toEqual(Array.from({ length: 5 }, () => 'TOKEN_USED'));
      const stored = (await openFleetLog(rig.nc).load(id)).map(({ commit }) => commit);
      expect(verifyChain(stored)).toEqual([]);
      const joined = stored.flatMap(({ events }) =>
        events.flatMap((event) => (event.type === 'DEVICE_JOINED' ? [event.data.publicKey] : [])),
      );
      expect(joined).toEqual(winners.map(publicKeyOf));
    }
  });

  it('is refused with a token that is over, or was never made', async () => {
    const ahead = { now: () => Date.now() + LIMITS.joinTokenMs };
    const early = await rig.startRegistry();
    const token = await rig.invite('joins-late');
    await rig.kill(early);
    await rig.startRegistry({ clock: ahead });
    expect(await reasonOf(rig.join(token, { now: ahead.now() }))).toBe('TOKEN_EXPIRED');
    expect(await reasonOf(rig.join(`join-${'A'.repeat(22)}`, { now: ahead.now() }))).toBe('TOKEN_UNKNOWN');
    expect(await rig.facts('joins-late')).toEqual(['DEVICE_ENROLLED']);
  });

  it('is refused to whoever has the hash but not the token, or a clock that is wrong', async () => {
    await rig.startRegistry();
    const token = await rig.invite('joins-4');
    const assertion = await makeJoinAssertion(makeDeviceSecret(), { token: 'join-something-else', now: Date.now() });
    const forged = query(rig.nc, 'registry', 'join', { tokenHash: tokenHash(token), assertion });
    expect(await reasonOf(forged)).toBe('UNAUTHORIZED');
    const wrong = rig.join(token, { now: Date.now() - 3_600_000 });
    await expect(wrong).rejects.toThrow(/about 36\d\d s behind the server's/u);
    expect(await reasonOf(rig.join(token, { now: Date.now() + 600_000 }))).toBe('CLOCK_SKEW');
    expect(await rig.facts('joins-4')).toEqual(['DEVICE_ENROLLED']);
  });
});

describe('a credential', () => {
  it('is renewed with the key, by any replica', async () => {
    await rig.startRegistry({ instance: 'a' });
    await rig.startRegistry({ instance: 'b' });
    const secret = makeDeviceSecret();
    await rig.join(await rig.invite('renews'), { secret });
    const renewed = await Promise.all(Array.from({ length: 8 }, () => renew('renews', secret)));
    const known = await Promise.all(renewed.map(({ credential }) => whoHas(credential)));
    expect(known.map((identity) => identity?.id)).toEqual(renewed.map(() => 'renews'));
    expect(await reasonOf(renew('renews', makeDeviceSecret()))).toBe('UNAUTHORIZED');
    expect(await reasonOf(renew('nobody', secret))).toBe('UNAUTHORIZED');
    expect(await reasonOf(renew('renews', secret, Date.now() - 600_000))).toBe('CLOCK_SKEW');
  });

  it('ends with its time', async () => {
    let ahead = 0;
    await rig.startRegistry({ credentialMs: 600_000, clock: { now: () => Date.now() + ahead } });
    const { credential, expiresAt } = await rig.join(await rig.invite('expires'));
    expect(await whoHas(credential)).toEqual(identityOf('expires', expiresAt));
    ahead = 600_000;
    expect(await whoHas(credential)).toBeNull();
  });

  it('ends with its key: the old one goes on until another one has joined', async () => {
    await rig.startRegistry();
    const old = makeDeviceSecret();
    const { credential } = await rig.join(await rig.invite('rekeyed'), { secret: old });
    const next = await rig.invite('rekeyed');
    expect(await whoHas(credential)).toMatchObject({ id: 'rekeyed' });
    expect(await reasonOf(renew('rekeyed', old))).toBe('done');
    const joined = await rig.join(next);
    expect(await whoHas(credential)).toBeNull();
    expect(await reasonOf(renew('rekeyed', old))).toBe('UNAUTHORIZED');
    expect(await whoHas(joined.credential)).toMatchObject({ id: 'rekeyed' });
  });

  it('and its key end when the device is given a static token', async () => {
    await rig.startRegistry();
    const secret = makeDeviceSecret();
    const { credential } = await rig.join(await rig.invite('demoted'), { secret });
    const { token } = await query(rig.nc, 'registry', 'enroll', { deviceId: 'demoted' });
    expect(await whoHas(credential)).toBeNull();
    expect(await reasonOf(renew('demoted', secret))).toBe('UNAUTHORIZED');
    expect(await rig.authenticate(token)).toBe('demoted');
    await rig.join(await rig.invite('demoted'));
    expect(await rig.authenticate(token)).toBeNull();
  });

  it('that somebody else has signed is none', async () => {
    await rig.startRegistry();
    const secret = makeDeviceSecret();
    const { credential } = await rig.join(await rig.invite('forged'), { secret });
    const issuer = new CredentialIssuer({ seed, lifeMs: 3_600_000 });
    expect(
      await whoHas((await issuer.issue('forged', publicKeyOf(secret), { at: Date.now(), id: 'forged' })).credential),
    ).toBeNull();
    const [header, , signature] = credential.split('.');
    const claims = Buffer.from(JSON.stringify({ iss: 'orrery', aud: 'aip', sub: 'forged' })).toString('base64url');
    expect(await whoHas([header, claims, signature].join('.'))).toBeNull();
    const own = new SignJWT({ cnf: { jkt: 'x' } }).setProtectedHeader({ alg: 'EdDSA', typ: 'orrery-credential+jwt' });
    const self = own.setIssuer('orrery').setAudience('aip').setSubject('forged').setExpirationTime('1h');
    expect(await whoHas(await self.sign(secret))).toBeNull();
  });
});

describe('a revocation', () => {
  it('ends every credential of a device, and is told to gateways and in its profile', async () => {
    await rig.startRegistry();
    const secret = makeDeviceSecret();
    const { credential } = await rig.join(await rig.invite('stolen'), { secret });
    const pending = await rig.invite('stolen');
    const { sequence } = await query(rig.nc, 'registry', 'revocations', { after: 0 });
    expect(await rig.revoke('stolen', { seed, reason: 'lost on a train' })).toEqual({ changed: true });
    expect((await rig.profile('stolen'))?.revoked).toMatchObject({ by: ANNA, reason: 'lost on a train' });
    expect(await whoHas(credential)).toBeNull();
    expect(await reasonOf(renew('stolen', secret))).toBe('UNAUTHORIZED');
    expect(await reasonOf(rig.join(pending))).toBe('TOKEN_UNKNOWN');
    const told = await query(rig.nc, 'registry', 'revocations', { after: sequence });
    expect(told.revoked).toEqual(['stolen']);
    expect(told.sequence).toBeGreaterThan(sequence);
    expect((await query(rig.nc, 'registry', 'revocations', { after: told.sequence })).revoked).toEqual([]);
    expect(await rig.revoke('stolen', { seed })).toEqual({ changed: false });
  });

  it('is lifted by joining again after a new enrolment, not by the enrolment', async () => {
    await rig.startRegistry();
    const old = await rig.join(await rig.invite('found'));
    await rig.revoke('found', { seed });
    const token = await rig.invite('found');
    expect((await rig.projected('found')).revoked).not.toBeNull();
    const { credential } = await rig.join(token);
    expect([await whoHas(credential), await whoHas(old.credential)]).toMatchObject([{ id: 'found' }, null]);
    expect(await rig.projected('found')).toMatchObject({ revoked: null, credential: 'key' });
    // A gateway that hears of it only now has to look: what it let in before may still be open there.
    expect((await query(rig.nc, 'registry', 'revocations', { after: 0 })).revoked).toContain('found');
  });

  it('of a static token is told to gateways, too, also when it was replaced', async () => {
    await rig.startRegistry();
    const { token } = await rig.enroll('static');
    const { sequence } = await query(rig.nc, 'registry', 'revocations', { after: 0 });
    await rig.enroll('static');
    expect(await rig.authenticate(token)).toBeNull();
    const told = await query(rig.nc, 'registry', 'revocations', { after: sequence });
    expect(told.revoked).toEqual(['static']);
  });

  it('by one replica is known to the other one when it is answered', async () => {
    await rig.startRegistry({ instance: 'a' });
    await rig.startRegistry({ instance: 'b' });
    for (let round = 0; round < 5; round++) {
      const id = `known-${round}`;
      const { credential } = await rig.join(await rig.invite(id));
      const { sequence } = await query(rig.nc, 'registry', 'revocations', { after: 0 });
      await rig.revoke(id, { seed });
      const asked = await Promise.all(Array.from({ length: 6 }, () => whoHas(credential)));
      expect(asked).toEqual(asked.map(() => null));
      const told = await Promise.all(
        Array.from({ length: 6 }, () => query(rig.nc, 'registry', 'revocations', { after: sequence })),
      );
      expect(told.map(({ revoked }) => revoked)).toEqual(told.map(() => [id]));
    }
  });

  it('is nothing that a stranger may order, and nothing of nobody', async () => {
    await rig.startRegistry();
    await rig.enroll('safe');
    expect(await reasonOf(rig.revoke('safe', { seed: rig.seed }))).toBe('UNAUTHORIZED');
    expect(await reasonOf(rig.revoke('not-there', { seed }))).toBe('NOT_FOUND');
    expect(await rig.facts('safe')).toEqual(['DEVICE_ENROLLED']);
  });

  it('holds for a registry that starts anew', async () => {
    const killed = await rig.startRegistry();
    const { credential } = await rig.join(await rig.invite('again'));
    const other = await rig.join(await rig.invite('stays'));
    await rig.revoke('again', { seed });
    await rig.kill(killed);
    await rig.startRegistry({ instance: 'b' });
    expect([await whoHas(credential), await whoHas(other.credential)]).toMatchObject([null, { id: 'stays' }]);
    expect((await query(rig.nc, 'registry', 'revocations', { after: 0 })).revoked).toContain('again');
  });
});

describe('clients', () => {
  const enroll = (clientId: string, targets: string[] | null = null) =>
    query(rig.nc, 'registry', 'enroll-client', { clientId, targets });
  const listed = async (clientId: string) =>
    (await query(rig.nc, 'registry', 'clients', {})).clients.find((client) => client.clientId === clientId);

  it('have a static token, the devices that they may use, and are no devices', async () => {
    await rig.startRegistry();
    const { token } = await enroll('planner-1', ['web-1']);
    expect(await rig.identify({ kind: 'token', tokenHash: tokenHash(token) })).toEqual({
      id: 'planner-1',
      role: 'constellation',
      targets: ['web-1'],
      expiresAt: null,
    });
    expect(await listed('planner-1')).toMatchObject({ role: 'constellation', targets: ['web-1'], revoked: null });
    expect(JSON.stringify(await listed('planner-1'))).not.toContain(tokenHash(token));
    const { devices } = await query(rig.nc, 'registry', 'devices', {});
    expect(devices.map(({ deviceId }) => deviceId)).not.toContain('planner-1');
    expect(await rig.profile('planner-1')).toBeUndefined();
  });

  it('are revoked, and enrolled anew with another token', async () => {
    await rig.startRegistry();
    const first = await enroll('planner-2');
    const { sequence } = await query(rig.nc, 'registry', 'revocations', { after: 0 });
    expect(await rig.revoke('planner-2', { seed, reason: 'left' })).toEqual({ changed: true });
    expect(await rig.authenticate(first.token)).toBeNull();
    expect((await query(rig.nc, 'registry', 'revocations', { after: sequence })).revoked).toEqual(['planner-2']);
    expect(await listed('planner-2')).toMatchObject({ revoked: { by: ANNA, reason: 'left' } });
    expect(await rig.revoke('planner-2', { seed })).toEqual({ changed: false });
    const second = await enroll('planner-2');
    expect([await rig.authenticate(first.token), await rig.authenticate(second.token)]).toEqual([null, 'planner-2']);
  });

  it('and devices share one name space', async () => {
    await rig.startRegistry();
    await rig.enroll('shared-name');
    await expect(enroll('shared-name')).rejects.toThrow(/must be another name: a device is enrolled as shared-name/u);
    await enroll('client-name');
    await expect(rig.enroll('client-name')).rejects.toThrow(
      /must be another name: a client is enrolled as client-name/u,
    );
    await expect(enroll('_fleet')).rejects.toThrow(/stands for the whole fleet/u);
  });
});
