import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Kvm } from '@nats-io/kv';
import { connectWs, HandshakeRefused } from '#libs/aip';
import { systemClock } from '#libs/platform';
import { FakeDevice, valueOf } from '#libs/testing';
import { AIP_CLOSE } from '#proto';
import { run, TestBench } from '../testing/test-bench.adapter.js';
let bench: TestBench;
beforeAll(async () => {
  bench = await TestBench.start();
});
afterEach(() => bench.clear());
afterAll(() => bench.stop());

describe('the handshake', () => {
  const refusal = async (url: string, headers: Record<string, string> = {}): Promise<unknown> =>
    connectWs({ url, headers, clock: systemClock }).catch((error: unknown) => error);

  it('refuses before the upgrade: no token, a wrong one, a page of a foreign site, another path', async () => {
    const { url, metrics } = await bench.gateway();
    const good = { Authorization: 'Bearer token-h1' };
    expect(await refusal(url)).toEqual(new HandshakeRefused(401));
    expect(await refusal(`${url}?token=wrong`)).toMatchObject({ status: 401 });
    expect(await refusal(url, { Authorization: 'Bearer wrong' })).toMatchObject({ status: 401 });
    expect(await refusal(url, { ...good, Origin: 'https://evil.example' })).toMatchObject({ status: 403 });
    expect(await refusal(`${url}/other`, good)).toMatchObject({ status: 404 });
    expect(await metrics.registry.metrics()).toContain('orrery_aip_handshakes_refused_total{status="401"');
  });

  it('says 503 and lets nobody in while the registry does not answer', async () => {
    const { url } = await bench.gateway({ registry: { identify: () => Promise.reject(new Error('no responders')) } });
    expect(await refusal(`${url}?token=token-h1`)).toMatchObject({ status: 503 });
  });

  it('says 503 as long as it cannot know from where on somebody may be revoked', async () => {
    let revocations = (): Promise<{ sequence: number; revoked: string[] }> => Promise.reject(new Error('away'));
    const { url } = await bench.gateway({ registry: { revocations: () => revocations() } });
    expect(await refusal(`${url}?token=token-h1`)).toMatchObject({ status: 503 });
    revocations = () => Promise.resolve({ sequence: 1, revoked: [] });
    bench.keep(await FakeDevice.dial({ url, deviceId: 'h1', token: 'token-h1' }));
  });

  it('asks again who it is when credentials were revoked while it asked', async () => {
    const heard = Promise.withResolvers<void>();
    let [asked, revoked] = [0, ['h1']];
    const { url } = await bench.gateway({
      registry: {
        identify: async () => {
          if (++asked > 1) return null;
          await heard.promise;
          return { id: 'h1', role: 'device', targets: null, expiresAt: null };
        },
        revocations: async (after) => {
          if (asked === 0 || after === 0) return { sequence: 1, revoked: [] };
          const answer = { sequence: 2, revoked };
          revoked = [];
          // The watch has heard it before the answer to the other question is here.
          setImmediate(() => heard.resolve());
          return answer;
        },
      },
    });
    expect(await refusal(`${url}?token=token-h1`)).toMatchObject({ status: 401 });
    expect(asked).toBe(2);
  });

  it('gives one device no more than four sockets that say nothing', async () => {
    // All of it in one moment: who says nothing for long is sent away, and has made room.
    const moment = Date.now();
    const { url } = await bench.gateway({ clock: { now: () => moment } });
    const dial = () => FakeDevice.dial({ url, deviceId: 'h2', token: 'token-h2' });
    for (let count = 0; count < 4; count++) bench.keep(await dial());
    await expect(dial()).rejects.toMatchObject({ status: 429 });
  });
});

describe('REGISTER', () => {
  it('writes PRESENCE before it is confirmed', async () => {
    const registered = await bench.device(await bench.gateway(), 'r1');
    expect(await bench.presenceOf('r1')).toMatchObject({
      deviceId: 'r1',
      sessionId: registered.sessionId,
      gateway: 'gateway-0',
      journalId: 'journal-r1',
      telemetry: { platform: 'linux', tools: [{ name: 'EXEC_CLI' }, { name: 'SYS_INFO' }] },
    });
  });

  it('refuses a device that calls itself by the name of another', async () => {
    const { url } = await bench.gateway();
    const liar = await FakeDevice.dial({ url, deviceId: 'victim', token: 'token-r2' });
    liar.register();
    expect(await liar.closed).toMatchObject({ code: AIP_CLOSE.policy });
    expect(liar.received).toMatchObject([{ type: 'error' }]);
    expect(await bench.presenceOf('victim')).toBeNull();
  });

  it.each([
    ['a frame that is not JSON', '{"type":'],
    ['a heartbeat', '{"type":"heartbeat","status":"ok"}'],
    ['a bottomless frame', '['.repeat(50_000)],
  ])('answers %s before it with ERROR and closes: no socket stays half open', async (_, frame) => {
    const { url, metrics } = await bench.gateway();
    const early = await FakeDevice.dial({ url, deviceId: 'r3', token: 'token-r3' });
    early.raw(frame);
    expect(await early.closed).toMatchObject({ code: AIP_CLOSE.protocolError });
    expect(early.received).toMatchObject([{ type: 'error', status: 'error' }]);
    expect(valueOf(await metrics.text(), 'orrery_aip_frames_refused_total')).toBe(1);
  });

  it('closes a socket whose frame is larger than allowed', async () => {
    const large = await bench.device(await bench.gateway(), 'r4');
    large.raw(JSON.stringify({ type: 'heartbeat', status: 'ok', padding: 'x'.repeat(1024 * 1024) }));
    expect(await large.closed).toMatchObject({ code: 1009 });
  });

  it('gives the key back when the device leaves', async () => {
    const leaving = await bench.device(await bench.gateway(), 'r5');
    await leaving.close();
    const kv = await new Kvm(bench.caller).open('PRESENCE');
    for await (const entry of await kv.watch({ key: 'r5' })) if (entry.operation === 'DEL') break;
    expect(await bench.presenceOf('r5')).toBeNull();
  });
});

describe('two connections of one device', () => {
  it('on one gateway: the newest has the session, the older one is closed', async () => {
    const gate = await bench.gateway();
    const older = await bench.device(gate, 't1');
    const newer = await bench.device(gate, 't1');
    expect(await older.closed).toMatchObject({ code: AIP_CLOSE.replaced });
    expect(await bench.presenceOf('t1')).toMatchObject({ sessionId: newer.sessionId });
    expect(await bench.ask(run(newer, 'a'))).toMatchObject({ state: 'finished' });
    expect(older.commands).toEqual([]);
    expect(valueOf(await gate.metrics.text(), 'orrery_aip_sessions_replaced_total')).toBe(1);
  });

  it('on two gateways: the older one sees that PRESENCE has changed', async () => {
    const [first, second] = [await bench.gateway(), await bench.gateway()];
    const older = await bench.device(first, 't2');
    const newer = await bench.device(second, 't2');
    expect(await older.closed).toMatchObject({ code: AIP_CLOSE.replaced });
    expect(await bench.presenceOf('t2')).toMatchObject({ sessionId: newer.sessionId, gateway: 'gateway-1' });
    expect(await bench.ask(run(newer, 'a'))).toMatchObject({ state: 'finished' });
  });
});

describe('PRESENCE that vanishes', () => {
  it('is written again for the same session while the socket lives', async () => {
    const survivor = await bench.device(await bench.gateway(), 'p1');
    const kv = await new Kvm(bench.caller).open('PRESENCE');
    const changes = await kv.watch({ key: 'p1' });
    await kv.delete('p1');
    let deleted = false;
    for await (const { operation } of changes) {
      deleted ||= operation === 'DEL';
      if (deleted && operation === 'PUT') break;
    }
    expect(await bench.presenceOf('p1')).toMatchObject({ sessionId: survivor.sessionId });
    expect(await bench.ask(run(survivor, 'a'))).toMatchObject({ state: 'finished' });
  });
});

describe('the gateway that stops', () => {
  it('sends its devices away and gives their keys back', async () => {
    const { app, url } = await bench.gateway();
    const guest = await FakeDevice.connect({ url, deviceId: 's1', token: 'token-s1' });
    await app.close();
    expect(await guest.closed).toMatchObject({ code: AIP_CLOSE.goingAway });
    expect(await bench.presenceOf('s1')).toBeNull();
  });
});
