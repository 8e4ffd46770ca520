import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { SignJWT } from 'jose';
import { pino } from 'pino';
import { connectWs } from '#libs/aip';
import { makeDeviceSecret, makeJoinAssertion, makeRenewAssertion, type DeviceSecret } from '#libs/keys';
import { systemClock } from '#libs/platform';
import { FakeDevice } from '#libs/testing';
import { AIP_CLOSE, type DeviceId } from '#proto';
import { StandInRegistry } from './registry.testing.js';
import { run, TestBench, type BenchGateway } from '../testing/test-bench.adapter.js';

/** How long a credential lasts here. */
const LIFE_MS = 600_000;
/** The same where one is to expire: less than what makes a gateway ask whether a device is still there. */
const SHORT_LIFE_MS = 15_000;
/** Longer than the second within which no connection is told of two. */
const RENEWS_AGAIN_MS = 1_500;
/** How far a test has put the clock of the gateways and of the registry forward. */
let aheadMs = 0;
const CLOCK = { now: () => Date.now() + aheadMs };

let bench: TestBench;
let registry: StandInRegistry;
let registryNc: NatsConnection;
beforeAll(async () => {
  bench = await TestBench.start();
  registryNc = await bench.as('registry');
  registry = new StandInRegistry(LIFE_MS, CLOCK);
  await registry.serve(registryNc);
});
afterEach(() => {
  registry.lifeMs = LIFE_MS;
  aheadMs = 0;
  return bench.clear();
});
afterAll(async () => {
  await registry.stop();
  await registryNc.close();
  await bench.stop();
});

const gatewayOnBus = (): Promise<BenchGateway> => bench.gateway({ registry: 'on the bus', clock: CLOCK });

interface Answered {
  readonly status: number;
  readonly credential: string;
  readonly code: string | undefined;
}

async function post({ url }: BenchGateway, path: string, body: object): Promise<Answered> {
  const target = url.replace('ws:', 'http:').replace('/ws', path);
  const response = await fetch(target, { method: 'POST', body: JSON.stringify(body) });
  const { credential = '', error } = (await response.json()) as { credential?: string; error?: { code: string } };
  return { status: response.status, credential, code: error?.code };
}

async function joinWith(gateway: BenchGateway, token: string, secret: DeviceSecret): Promise<Answered> {
  const assertion = await makeJoinAssertion(secret, { token, now: CLOCK.now() });
  return post(gateway, '/v1/join', { token, assertion });
}

async function renewAs(gateway: BenchGateway, deviceId: DeviceId, secret: DeviceSecret): Promise<Answered> {
  return post(gateway, '/v1/credential', {
    assertion: await makeRenewAssertion(secret, { deviceId, now: CLOCK.now() }),
  });
}

/** A device that has joined, and the gateway it knows. */
async function joined(deviceId: DeviceId, lifeMs = LIFE_MS) {
  registry.lifeMs = lifeMs;
  const gateway = await gatewayOnBus();
  const secret = makeDeviceSecret();
  const { credential } = await joinWith(gateway, registry.enrol(deviceId), secret);
  return { gateway, secret, credential };
}

const dialWith = async ({ url }: BenchGateway, deviceId: DeviceId, token: string): Promise<FakeDevice> =>
  bench.keep(await FakeDevice.connect({ url, deviceId, token }));

const refusedWith = (gateway: BenchGateway, token: string): Promise<unknown> =>
  connectWs({ url: gateway.url, token, clock: systemClock }).then(
    (transport) => {
      transport.terminate();
      return { status: 101 };
    },
    (error: unknown) => error,
  );

describe('a device with a join token', () => {
  it('gets a credential for its key, connects with it, and may ask again when the answer was lost', async () => {
    const gateway = await gatewayOnBus();
    const [token, secret] = [registry.enrol('j1'), makeDeviceSecret()];
    expect(await joinWith(gateway, token, secret)).toMatchObject({ status: 200 });
    const { credential } = await joinWith(gateway, token, secret);
    const device = await dialWith(gateway, 'j1', credential);
    expect(await bench.ask(run(device, 'a'))).toMatchObject({ state: 'finished' });
  });

  it('is refused when another key has used it, when it is too late, and when nobody made it', async () => {
    const gateway = await gatewayOnBus();
    const [token, late] = [registry.enrol('j2'), registry.enrol('j3', 0)];
    await joinWith(gateway, token, makeDeviceSecret());
    const answers = await Promise.all([
      joinWith(gateway, token, makeDeviceSecret()),
      joinWith(gateway, late, makeDeviceSecret()),
      joinWith(gateway, 'join-AAAAAAAAAAAAAAAAAAAAAA', makeDeviceSecret()),
    ]);
    expect(answers).toMatchObject([
      { status: 409, code: 'TOKEN_USED' },
      { status: 410, code: 'TOKEN_EXPIRED' },
      { status: 401, code: 'TOKEN_UNKNOWN' },
    ]);
  });

  it('does not get in with the token itself', async () => {
    const gateway = await gatewayOnBus();
    expect(await refusedWith(gateway, registry.enrol('j4'))).toMatchObject({ status: 401 });
  });
});

describe('a credential', () => {
  const part = (json: object): string => Buffer.from(JSON.stringify(json)).toString('base64url');

  it('that somebody made himself is nobody’s', async () => {
    const { gateway, credential } = await joined('c1');
    const [header = '', claims = '', signature = ''] = credential.split('.');
    const told = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, unknown>;
    const { privateKey } = generateKeyPairSync('ed25519');
    const typ = (JSON.parse(Buffer.from(header, 'base64url').toString()) as { typ: string }).typ;
    const signed = (changed: object): Promise<string> =>
      new SignJWT({ ...told, ...changed }).setProtectedHeader({ alg: 'EdDSA', typ }).sign(privateKey);
    const forged = {
      'no signature': `${part({ alg: 'none', typ })}.${claims}.`,
      'algorithm none': `${part({ alg: 'none', typ })}.${claims}.${signature}`,
      'another algorithm': `${part({ alg: 'HS256', typ })}.${claims}.${signature}`,
      'another subject': `${header}.${part({ ...told, sub: 'victim' })}.${signature}`,
      'more time': `${header}.${part({ ...told, exp: Number(told['exp']) + 1_000_000 })}.${signature}`,
      'another key': await signed({}),
      'another audience': await signed({ aud: 'console' }),
      'a signature cut short': credential.slice(0, -4),
    };
    for (const [how, text] of Object.entries(forged)) {
      expect({ how, refused: await refusedWith(gateway, text) }).toMatchObject({ how, refused: { status: 401 } });
    }
    await dialWith(gateway, 'c1', credential);
  });

  it('is no assertion, and an assertion is no credential', async () => {
    const { gateway, secret, credential } = await joined('c2');
    expect(await post(gateway, '/v1/credential', { assertion: credential })).toMatchObject({ status: 401 });
    const assertion = await makeRenewAssertion(secret, { deviceId: 'c2', now: Date.now() });
    expect(await refusedWith(gateway, assertion)).toMatchObject({ status: 401 });
    const token = registry.enrol('c2');
    expect(await post(gateway, '/v1/join', { token, assertion })).toMatchObject({ status: 401 });
  });

  it('that has expired closes the connection that it opened', async () => {
    const { gateway, credential } = await joined('c3', SHORT_LIFE_MS);
    const device = await dialWith(gateway, 'c3', credential);
    aheadMs = SHORT_LIFE_MS;
    expect(await device.closed).toMatchObject({ code: AIP_CLOSE.expired });
    expect(await refusedWith(gateway, credential)).toMatchObject({ status: 401 });
  });

  it('that is renewed in time keeps the connection open, and the next one too', async () => {
    const { gateway, secret, credential } = await joined('c4', SHORT_LIFE_MS);
    const unrenewed = await joinWith(gateway, registry.enrol('c4u'), makeDeviceSecret());
    const device = await dialWith(gateway, 'c4', credential);
    const other = await dialWith(gateway, 'c4u', unrenewed.credential);
    let ended = false;
    void device.closed.then(() => (ended = true));
    registry.lifeMs = LIFE_MS;
    for (const renewals of [1, 2]) {
      const next = await renewAs(gateway, 'c4', secret);
      device.send({ type: 'credential', orrery: { credential: next.credential } });
      await device.until(() => device.received.filter(({ type }) => type === 'heartbeat').length > renewals || ended);
      aheadMs += RENEWS_AGAIN_MS;
    }
    aheadMs = SHORT_LIFE_MS;
    expect(await refusedWith(gateway, credential)).toMatchObject({ status: 401 });
    // The gateway has looked at all of them by then.
    expect(await other.closed).toMatchObject({ code: AIP_CLOSE.expired });
    expect(await bench.ask(run(device, 'a'))).toMatchObject({ state: 'finished' });
    expect(ended).toBe(false);
  });

  it('of another device renews nothing', async () => {
    // The other one first: the short life of this one is for what comes next.
    const other = await joined('c6');
    const { gateway, credential } = await joined('c5', SHORT_LIFE_MS);
    const device = await dialWith(gateway, 'c5', credential);
    device.send({ type: 'credential', orrery: { credential: other.credential } });
    expect(await device.until(({ type }) => type === 'error')).toMatchObject({
      error: expect.stringContaining('not that of this device'),
    });
    aheadMs = SHORT_LIFE_MS;
    expect(await device.closed).toMatchObject({ code: AIP_CLOSE.expired });
  });

  it('is got with the key alone, also after a long time', async () => {
    const { gateway, secret, credential } = await joined('c7', SHORT_LIFE_MS);
    registry.lifeMs = LIFE_MS;
    aheadMs = SHORT_LIFE_MS;
    expect(await refusedWith(gateway, credential)).toMatchObject({ status: 401 });
    const next = await renewAs(gateway, 'c7', secret);
    await dialWith(gateway, 'c7', next.credential);
    expect(await renewAs(gateway, 'c7', makeDeviceSecret())).toMatchObject({ status: 401 });
  });
});

describe('a device that is revoked', () => {
  it('is sent away by every gateway, and let in by none', async () => {
    const gateways = [await gatewayOnBus(), await gatewayOnBus()] as const;
    const [id, token] = ['r1', registry.enrolStatic('r1')];
    const device = await dialWith(gateways[1], id, token);
    const other = await dialWith(gateways[0], 'r2', registry.enrolStatic('r2'));
    registry.revoke(id);
    expect(await device.closed).toMatchObject({ code: AIP_CLOSE.revoked });
    for (const gateway of gateways) expect(await refusedWith(gateway, token)).toMatchObject({ status: 401 });
    expect(await bench.ask(run(other, 'a'))).toMatchObject({ state: 'finished' });
  });

  it('cannot renew, and its credential counts for nothing', async () => {
    const { gateway, secret, credential } = await joined('r3');
    registry.revoke('r3');
    expect(await renewAs(gateway, 'r3', secret)).toMatchObject({ status: 401 });
    expect(await refusedWith(gateway, credential)).toMatchObject({ status: 401 });
  });

  it('stays when it came with what replaced the revoked', async () => {
    const gateway = await gatewayOnBus();
    await dialWith(gateway, 'r4', registry.enrolStatic('r4'));
    // Known as revoked from now on, and enrolled again, before the gateway has heard of either.
    const device = await dialWith(gateway, 'r4', registry.enrolStatic('r4'));
    const marker = await dialWith(gateway, 'r5', registry.enrolStatic('r5'));
    registry.revoke('r5');
    // What was heard of after it has been heard of, too.
    await marker.closed;
    expect(await bench.ask(run(device, 'a'))).toMatchObject({ state: 'finished' });
  });

  it('is sent away after an outage of the bus that it was revoked in', async () => {
    const gateway = await gatewayOnBus();
    const device = await dialWith(gateway, 'r6', registry.enrolStatic('r6'));
    await bench.nats.kill9();
    registry.revoke('r6');
    await bench.nats.restart();
    expect(await device.closed).toMatchObject({ code: AIP_CLOSE.revoked });
  });
});

describe('the example of the documentation', () => {
  it('joins and renews', async () => {
    const gateway = await gatewayOnBus();
    const root = join(import.meta.dirname, '../../..');
    const page = await readFile(join(root, 'docs/aip.md'), 'utf8');
    const [, example = ''] = /```js\n(import \{ createHash[^]*?)```/u.exec(page) ?? [];
    const env = { AIP_HTTP: gateway.url.replace('ws:', 'http:').replace('/ws', ''), JOIN_TOKEN: registry.enrol('e1') };
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', example], { cwd: root, env });
    expect(stdout.match(/deviceId: 'e1'/gu)).toHaveLength(2);
  });
});

describe('what is secret', () => {
  it('is in no log line, whatever goes wrong', async () => {
    let log = '';
    const logger = pino({ level: 'trace' }, { write: (line: string) => void (log += line) });
    const gateway = await bench.gateway({ registry: 'on the bus', logger });
    const secret = makeDeviceSecret();
    const token = registry.enrol('s1');
    const { credential } = await joinWith(gateway, token, secret);
    const device = await dialWith(gateway, 's1', credential);
    device.send({ type: 'credential', orrery: { credential: 'canary-renewed' } });
    await device.until(({ type }) => type === 'error');
    const early = await FakeDevice.dial({ url: gateway.url, deviceId: 's1', token: credential });
    early.raw('{"type":"canary-frame"');
    await early.closed;
    await joinWith(gateway, 'join-canary', secret);
    await post(gateway, '/v1/join', { token: 'canary-body', 'canary-field': 1 });
    await fetch(`${gateway.url.replace('ws:', 'http:')}?token=canary-plain`).catch(() => undefined);
    for (const url of [`${gateway.url}?token=canary-url`, gateway.url.replace('/ws', '/canary?token=canary-path')]) {
      await connectWs({ url, clock: systemClock }).catch(() => undefined);
    }
    await refusedWith(gateway, 'canary-header');
    const static2 = registry.enrolStatic('s2');
    const foreign = await FakeDevice.connect({
      url: `${gateway.url}?token=${static2}`,
      deviceId: 's2',
      journalId: null,
    });
    await foreign.close();
    expect(log).toContain('device connected');
    expect(log).not.toContain('canary');
    for (const text of [token, credential, secret.d, static2]) expect(log).not.toContain(text);
  });
});
