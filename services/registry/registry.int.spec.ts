import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { LIMITS, type DeviceId } from '#proto';
import { openFleetLog } from '#libs/event-log';
import { query } from '#libs/messaging';
import { telemetry } from './given.testing.js';
import { KvProfiles } from './projections/kv-profiles.adapter.js';
import { Rig, until } from './rig.testing.js';

/** Of what nobody renews any more. */
const EXPIRES_MS = 1_000;

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterEach(() => rig.stopRegistries());
afterAll(() => rig.stop());

describe('enrolment', () => {
  it('makes an id, and a token that is nowhere but in the answer', async () => {
    await rig.startRegistry();
    const { deviceId, token } = await rig.enroll();
    expect(await rig.authenticate(token)).toBe(deviceId);
    expect(await rig.authenticate('another')).toBeNull();
    expect(token).toMatch(/^[\w-]{43}$/u);
    expect(JSON.stringify(await openFleetLog(rig.nc).load(deviceId))).not.toContain(token);
    expect(await rig.projected(deviceId)).toMatchObject({ status: 'offline', session: null, revision: 1 });
  });

  it('replaces the credential of a known device and nothing else', async () => {
    await rig.startRegistry();
    const { token: first } = await rig.enroll('renewed');
    const { token: second } = await query(rig.nc, 'registry', 'enroll', { deviceId: 'renewed' });
    expect([await rig.authenticate(first), await rig.authenticate(second)]).toEqual([null, 'renewed']);
    expect(await rig.projected('renewed')).toMatchObject({ tags: ['db'], revision: 2 });
  });

  it('of one replica is known to the other one at once', async () => {
    await rig.startRegistry({ instance: 'a' });
    const { token } = await rig.enroll('shared');
    await rig.startRegistry({ instance: 'b' });
    const answers = await Promise.all(Array.from({ length: 8 }, () => rig.authenticate(token)));
    expect(new Set(answers)).toEqual(new Set(['shared']));
    const tokens = await Promise.all(Array.from({ length: 6 }, (_, index) => rig.enroll(`many-${index}`)));
    const known = await Promise.all(tokens.map((one) => rig.authenticate(one.token)));
    expect(known).toEqual(tokens.map(({ deviceId }) => deviceId));
  });

  it('of the same device by two replicas at once is two facts in one chain', async () => {
    await rig.startRegistry({ instance: 'a' });
    await rig.startRegistry({ instance: 'b' });
    await Promise.all(Array.from({ length: 6 }, () => rig.enroll('contended')));
    expect(await rig.facts('contended')).toHaveLength(6);
    expect(await rig.projected('contended')).toMatchObject({ revision: 6 });
  });
});

describe('presence', () => {
  it('of a device without a journal that names other tools becomes one more fact, and its profile has them', async () => {
    await rig.startRegistry();
    await rig.enroll('strange-1');
    const tools = [{ name: 'execute_command', description: '', readOnly: false }];
    const named = { journalId: null, telemetry: telemetry({ tools }) };
    await rig.appear('strange-1', 's1', undefined, { journalId: null, telemetry: telemetry({ tools: [] }) });
    await rig.ends('strange-1', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED');
    await rig.appear('strange-1', 's1', undefined, named);
    await rig.appear('strange-1', 's1', undefined, named);
    await rig.ends('strange-1', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED', 'DEVICE_TOOLS_CHANGED');
    const profile = await rig.projected('strange-1');
    expect(profile).toMatchObject({
      status: 'connected',
      session: { sessionId: 's1' },
      tools: [{ name: 'execute_command' }],
    });
  });

  it('becomes DEVICE_CONNECTED; renewals of the session become nothing', async () => {
    await rig.startRegistry();
    await rig.enroll('web-1');
    await rig.appear('web-1', 's1');
    await rig.ends('web-1', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED');
    await rig.appear('web-1', 's1');
    await rig.appear('web-1', 's1');
    await rig.appear('web-1', 's2');
    await rig.ends('web-1', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED', 'DEVICE_CONNECTED');
    expect(await rig.projected('web-1')).toMatchObject({
      status: 'connected',
      os: 'linux',
      session: { sessionId: 's2' },
    });
    const { devices } = await query(rig.nc, 'registry', 'devices', {});
    expect(devices.find(({ deviceId }) => deviceId === 'web-1')).toMatchObject({ status: 'connected', tags: ['db'] });
  });

  it('of a device that nobody enrolled is nothing', async () => {
    await rig.startRegistry();
    await rig.enroll('known');
    await rig.appear('stranger', 's1');
    await rig.appear('known', 's1');
    await rig.ends('known', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED');
    expect(await rig.facts('stranger')).toEqual([]);
  });

  it('that vanished makes the device suspect, then lost by the durable timer', async () => {
    await rig.startRegistry();
    await rig.enroll('web-2');
    await rig.appear('web-2', 's1');
    await rig.ends('web-2', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED');
    await rig.vanish('web-2');
    await rig.ends('web-2', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED', 'DEVICE_SUSPECT', 'DEVICE_LOST');
    expect(await rig.projected('web-2')).toMatchObject({ status: 'lost', session: { sessionId: 's1' } });
  });

  it('that comes back within the grace stops the loss, also with the same session', async () => {
    await rig.startRegistry({ graceMs: 60_000 });
    await rig.enroll('web-3');
    await rig.appear('web-3', 's1');
    await rig.ends('web-3', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED');
    await rig.vanish('web-3');
    await rig.ends('web-3', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED', 'DEVICE_SUSPECT');
    await rig.appear('web-3', 's1');
    await rig.ends('web-3', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED', 'DEVICE_SUSPECT', 'DEVICE_CONNECTED');
    expect(await rig.projected('web-3')).toMatchObject({ status: 'connected' });
  });

  it('without grace is lost in the same commit', async () => {
    await rig.startRegistry({ graceMs: 0 });
    await rig.enroll('web-4');
    await rig.appear('web-4', 's1');
    await rig.ends('web-4', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED');
    await rig.vanish('web-4');
    await rig.ends('web-4', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED', 'DEVICE_SUSPECT', 'DEVICE_LOST');
    expect(await openFleetLog(rig.nc).load('web-4')).toHaveLength(3);
  });

  it('that expires because its gateway died is noticed', async () => {
    await rig.startRegistry({ graceMs: 60_000 });
    await rig.enroll('web-5');
    await rig.appear('web-5', 's1');
    await rig.ends('web-5', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED');
    await rig.presencesLast(EXPIRES_MS);
    await rig.ends('web-5', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED', 'DEVICE_SUSPECT');
    await rig.presencesLast();
  });
});

describe('a registry that was away', () => {
  it('lets the timer of a killed one end the grace', async () => {
    const gone = await killedInGrace();
    // By its own clock the grace is not over yet: it is the timer that says so, not the look at what is missing.
    await rig.startRegistry({ instance: 'b', clock: { now: () => Date.now() - LIMITS.deviceGraceMs } });
    await rig.ends(gone, 'DEVICE_ENROLLED', 'DEVICE_CONNECTED', 'DEVICE_SUSPECT', 'DEVICE_LOST');
    const lost = (await openFleetLog(rig.nc).load(gone)).at(-1)?.commit;
    expect(lost).toMatchObject({ by: { instance: 'b' }, causes: [{ kind: 'timer' }] });
    expect(await rig.projected(gone)).toMatchObject({ status: 'lost' });
  });

  /** A device that is suspect, whose registry is gone; with another one again where a busy machine took longer than the grace. */
  async function killedInGrace(count = 1): Promise<DeviceId> {
    const id = `gone-${count}`;
    const killed = await rig.startRegistry({ graceMs: 5_000 });
    await rig.enroll(id);
    await rig.appear(id, 's1');
    await rig.ends(id, 'DEVICE_ENROLLED', 'DEVICE_CONNECTED');
    await rig.vanish(id);
    await until(
      () => rig.facts(id),
      (found) => found.includes('DEVICE_SUSPECT'),
    );
    await rig.kill(killed);
    return (await rig.facts(id)).at(-1) === 'DEVICE_SUSPECT' ? id : killedInGrace(count + 1);
  }

  it('finds what came and what went meanwhile', async () => {
    const killed = await rig.startRegistry({ graceMs: 60_000 });
    await Promise.all([rig.enroll('came'), rig.enroll('went')]);
    await rig.appear('went', 's1');
    await rig.ends('went', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED');
    await rig.kill(killed);
    await rig.vanish('went');
    await rig.appear('came', 's1');
    await rig.startRegistry({ instance: 'b', graceMs: 60_000 });
    await rig.ends('went', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED', 'DEVICE_SUSPECT');
    await rig.ends('came', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED');
  });

  it('repairs profiles that are missing, wrong, or of no device', async () => {
    const killed = await rig.startRegistry();
    await Promise.all([rig.enroll('missing'), rig.enroll('wrong')]);
    const wrong = await rig.projected('wrong');
    await rig.projected('missing');
    await rig.kill(killed);
    const kv = new KvProfiles(rig.nc);
    await kv.remove('missing');
    await kv.remove('wrong');
    await kv.write('wrong', async () => ({ ...wrong, tags: ['forged'] }));
    await kv.write('nobody', async () => ({ ...wrong, deviceId: 'nobody' }));
    await rig.startRegistry({ instance: 'b' });
    await until(
      async () => ({
        missing: await kv.read('missing'),
        wrong: await kv.read('wrong'),
        nobody: await kv.read('nobody'),
      }),
      (now) => now.missing?.revision === 1 && now.wrong?.tags[0] === 'db' && now.nobody === undefined,
    );
  });

  it('goes on after the server was killed', async () => {
    await rig.startRegistry({ graceMs: 60_000 });
    await rig.enroll('survivor');
    await rig.server.kill9();
    await rig.server.restart();
    await until(
      () =>
        rig.appear('survivor', 's1').then(
          () => true,
          () => false,
        ),
      (stored) => stored,
    );
    await rig.ends('survivor', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED');
  });
});

describe('two replicas', () => {
  it('record each change once', async () => {
    await rig.startRegistry({ instance: 'a' });
    await rig.startRegistry({ instance: 'b' });
    const ids = Array.from({ length: 12 }, (_, index) => `pair-${index}`);
    await Promise.all(ids.map((id) => rig.enroll(id)));
    await Promise.all(ids.map((id) => rig.appear(id, 's1')));
    await Promise.all(ids.map((id) => rig.ends(id, 'DEVICE_ENROLLED', 'DEVICE_CONNECTED')));
    await Promise.all(ids.map((id) => rig.vanish(id)));
    await Promise.all(
      ids.map((id) => rig.ends(id, 'DEVICE_ENROLLED', 'DEVICE_CONNECTED', 'DEVICE_SUSPECT', 'DEVICE_LOST')),
    );
    for (const id of ids) expect(await rig.projected(id)).toMatchObject({ status: 'lost', revision: 4 });
  });
});
