import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream } from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { BUCKETS, LIMITS, type AgentProfile, type DeviceId, type FleetEventType, type Presence } from '#proto';
import { openFleetLog } from '#libs/event-log';
import { connectBus, provision, query } from '#libs/messaging';
import { createLogger, systemClock } from '#libs/platform';
import { startTestNats, type TestNats } from '#libs/testing';
import { evolveCommit, type Device } from './device.js';
import { KvProfiles } from './kv-profiles.adapter.js';
import { profileOf } from './profile.js';
import { Registry } from './registry.runner.js';

/** Waiting is for a fact, and ends only with the test's own limit. */
const LOOK_MS = 10;
const GRACE_MS = 400;

let server: TestNats;
let nc: NatsConnection;
let presence: KV;
const running = new Set<{ registry: Registry; nc: NatsConnection }>();

beforeAll(async () => {
  server = await startTestNats();
  nc = await connect('test');
  await provision(nc);
  presence = await new Kvm(jetstream(nc)).open(BUCKETS.PRESENCE.bucket);
});
afterEach(async () => {
  for (const one of running) await stop(one);
});
afterAll(async () => {
  await nc?.close();
  await server?.stop();
});

const connect = (name: string): Promise<NatsConnection> =>
  connectBus({ url: server.url, name, inboxPrefix: `_INBOX_${name}` });

async function startRegistry({ graceMs = GRACE_MS, instance = 'a' } = {}): Promise<{
  registry: Registry;
  nc: NatsConnection;
}> {
  const own = await connect(`registry-${instance}`);
  const logger = createLogger({ service: 'registry', instance, level: 'silent' });
  const registry = new Registry({ nc: own, clock: systemClock, logger, instance, graceMs, stores: [] });
  await registry.start();
  const one = { registry, nc: own };
  running.add(one);
  return one;
}

async function stop(one: { registry: Registry; nc: NatsConnection }): Promise<void> {
  running.delete(one);
  await one.registry.stop();
  await one.nc.close();
}

/** As a killed process: nothing is said to anybody. */
async function kill(one: { registry: Registry; nc: NatsConnection }): Promise<void> {
  running.delete(one);
  await one.nc.close();
  await one.registry.stop().catch(() => undefined);
}

async function facts(deviceId: DeviceId): Promise<FleetEventType[]> {
  const stored = await openFleetLog(nc).load(deviceId);
  return stored.flatMap(({ commit }) => commit.events.map(({ type }) => type));
}

async function until<T>(read: () => Promise<T>, wanted: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await read();
    if (wanted(value)) return value;
    await sleep(LOOK_MS);
  }
}

const ends = (deviceId: DeviceId, ...types: FleetEventType[]): Promise<FleetEventType[]> =>
  until(
    () => facts(deviceId),
    (found) => JSON.stringify(found) === JSON.stringify(types),
  );

async function folded(deviceId: DeviceId): Promise<AgentProfile | undefined> {
  const stored = await openFleetLog(nc).load(deviceId);
  const device = stored.reduce<Device | undefined>((before, { commit }) => evolveCommit(before, commit), undefined);
  return device === undefined ? undefined : profileOf(device);
}

/** The profile in KV once it is what the log says. */
async function projected(deviceId: DeviceId): Promise<AgentProfile> {
  const wanted = await folded(deviceId);
  const found = await until(
    () => new KvProfiles(nc).read(deviceId),
    (profile) => profile?.revision === wanted?.revision,
  );
  expect(found).toEqual(wanted);
  if (found === undefined) throw new Error('no profile');
  return found;
}

async function appear(deviceId: DeviceId, sessionId: string): Promise<void> {
  const value: Presence = {
    deviceId,
    sessionId,
    gateway: 'gateway-1',
    journalId: 'journal-1',
    connectedAt: '2026-11-20T15:40:40.489Z',
    telemetry: {
      platform: 'linux',
      osVersion: '12',
      hostname: deviceId,
      arch: 'x64',
      cpuCount: 2,
      memoryMb: 2048,
      capabilities: ['cli'],
      tools: [{ name: 'EXEC_CLI', description: 'run', readOnly: false }],
      metadata: {},
    },
  };
  await presence.put(deviceId, JSON.stringify(value));
}

const vanish = (deviceId: DeviceId): Promise<void> => presence.purge(deviceId);
const enroll = (deviceId?: DeviceId): Promise<{ deviceId: string; token: string }> =>
  query(
    nc,
    'registry',
    'enroll',
    deviceId === undefined ? {} : { deviceId, admin: { tags: ['db'], capabilities: [] } },
  );
const authenticate = async (token: string): Promise<DeviceId | null> => {
  const tokenHash = createHash('sha256').update(token).digest('hex');
  return (await query(nc, 'registry', 'authenticate', { tokenHash })).deviceId;
};

describe('enrolment', () => {
  it('makes an id, and a token that is nowhere but in the answer', async () => {
    await startRegistry();
    const { deviceId, token } = await enroll();
    expect(await authenticate(token)).toBe(deviceId);
    expect(await authenticate('another')).toBeNull();
    expect(token).toMatch(/^[\w-]{43}$/u);
    expect(JSON.stringify(await openFleetLog(nc).load(deviceId))).not.toContain(token);
    expect(await projected(deviceId)).toMatchObject({ status: 'offline', session: null, revision: 1 });
  });

  it('replaces the credential of a known device and nothing else', async () => {
    await startRegistry();
    const { token: first } = await enroll('renewed');
    const { token: second } = await query(nc, 'registry', 'enroll', { deviceId: 'renewed' });
    expect([await authenticate(first), await authenticate(second)]).toEqual([null, 'renewed']);
    expect(await projected('renewed')).toMatchObject({ tags: ['db'], revision: 2 });
  });

  it('of one replica is known to the other one at once', async () => {
    await startRegistry({ instance: 'a' });
    const { token } = await enroll('shared');
    await startRegistry({ instance: 'b' });
    const answers = await Promise.all(Array.from({ length: 8 }, () => authenticate(token)));
    expect(new Set(answers)).toEqual(new Set(['shared']));
    const tokens = await Promise.all(Array.from({ length: 6 }, (_, index) => enroll(`many-${index}`)));
    const known = await Promise.all(tokens.map((one) => authenticate(one.token)));
    expect(known).toEqual(tokens.map(({ deviceId }) => deviceId));
  });

  it('of the same device by two replicas at once is two facts in one chain', async () => {
    await startRegistry({ instance: 'a' });
    await startRegistry({ instance: 'b' });
    await Promise.all(Array.from({ length: 6 }, () => enroll('contended')));
    expect(await facts('contended')).toHaveLength(6);
    expect(await projected('contended')).toMatchObject({ revision: 6 });
  });
});

describe('presence', () => {
  it('becomes DEVICE_CONNECTED; renewals of the session become nothing', async () => {
    await startRegistry();
    await enroll('web-1');
    await appear('web-1', 's1');
    await ends('web-1', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED');
    await appear('web-1', 's1');
    await appear('web-1', 's1');
    await appear('web-1', 's2');
    await ends('web-1', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED', 'DEVICE_CONNECTED');
    expect(await projected('web-1')).toMatchObject({ status: 'connected', os: 'linux', session: { sessionId: 's2' } });
    const { devices } = await query(nc, 'registry', 'devices', {});
    expect(devices.find(({ deviceId }) => deviceId === 'web-1')).toMatchObject({ status: 'connected', tags: ['db'] });
  });

  it('of a device that nobody enrolled is nothing', async () => {
    await startRegistry();
    await enroll('known');
    await appear('stranger', 's1');
    await appear('known', 's1');
    await ends('known', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED');
    expect(await facts('stranger')).toEqual([]);
  });

  it('that vanished makes the device suspect, then lost by the durable timer', async () => {
    await startRegistry();
    await enroll('web-2');
    await appear('web-2', 's1');
    await ends('web-2', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED');
    await vanish('web-2');
    await ends('web-2', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED', 'DEVICE_SUSPECT', 'DEVICE_LOST');
    expect(await projected('web-2')).toMatchObject({ status: 'lost', session: { sessionId: 's1' } });
  });

  it('that comes back within the grace stops the loss, also with the same session', async () => {
    await startRegistry({ graceMs: 60_000 });
    await enroll('web-3');
    await appear('web-3', 's1');
    await ends('web-3', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED');
    await vanish('web-3');
    await ends('web-3', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED', 'DEVICE_SUSPECT');
    await appear('web-3', 's1');
    await ends('web-3', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED', 'DEVICE_SUSPECT', 'DEVICE_CONNECTED');
    expect(await projected('web-3')).toMatchObject({ status: 'connected' });
  });

  it('without grace is lost in the same commit', async () => {
    await startRegistry({ graceMs: 0 });
    await enroll('web-4');
    await appear('web-4', 's1');
    await ends('web-4', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED');
    await vanish('web-4');
    await ends('web-4', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED', 'DEVICE_SUSPECT', 'DEVICE_LOST');
    expect(await openFleetLog(nc).load('web-4')).toHaveLength(3);
  });

  it(
    'that expires because its gateway died is noticed',
    async () => {
      await startRegistry({ graceMs: 60_000 });
      await enroll('web-5');
      await appear('web-5', 's1');
      await ends('web-5', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED', 'DEVICE_SUSPECT');
    },
    LIMITS.presenceTtlMs * 3,
  );
});

describe('a registry that was away', () => {
  it('lets the timer of a killed one end the grace', async () => {
    const killed = await startRegistry({ graceMs: 1_500 });
    await enroll('gone-1');
    await appear('gone-1', 's1');
    await ends('gone-1', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED');
    await vanish('gone-1');
    await ends('gone-1', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED', 'DEVICE_SUSPECT');
    await kill(killed);
    await startRegistry({ instance: 'b' });
    await ends('gone-1', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED', 'DEVICE_SUSPECT', 'DEVICE_LOST');
    const lost = (await openFleetLog(nc).load('gone-1')).at(-1)?.commit;
    expect(lost).toMatchObject({ by: { instance: 'b' }, causes: [{ kind: 'timer' }] });
    expect(await projected('gone-1')).toMatchObject({ status: 'lost' });
  });

  it('finds what came and what went meanwhile', async () => {
    const killed = await startRegistry({ graceMs: 60_000 });
    await Promise.all([enroll('came'), enroll('went')]);
    await appear('went', 's1');
    await ends('went', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED');
    await kill(killed);
    await vanish('went');
    await appear('came', 's1');
    await startRegistry({ instance: 'b', graceMs: 60_000 });
    await ends('went', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED', 'DEVICE_SUSPECT');
    await ends('came', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED');
  });

  it('repairs profiles that are missing, wrong, or of no device', async () => {
    const killed = await startRegistry();
    await Promise.all([enroll('missing'), enroll('wrong')]);
    const wrong = await projected('wrong');
    await projected('missing');
    await kill(killed);
    const kv = new KvProfiles(nc);
    await kv.remove('missing');
    await kv.remove('wrong');
    await kv.write({ ...wrong, tags: ['forged'] });
    await kv.write({ ...wrong, deviceId: 'nobody' });
    await startRegistry({ instance: 'b' });
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
    await startRegistry({ graceMs: 60_000 });
    await enroll('survivor');
    await server.kill9();
    await server.restart();
    await until(
      () =>
        appear('survivor', 's1').then(
          () => true,
          () => false,
        ),
      (stored) => stored,
    );
    await ends('survivor', 'DEVICE_ENROLLED', 'DEVICE_CONNECTED');
  });
});

describe('two replicas', () => {
  it('record each change once', async () => {
    await startRegistry({ instance: 'a' });
    await startRegistry({ instance: 'b' });
    const ids = Array.from({ length: 12 }, (_, index) => `pair-${index}`);
    await Promise.all(ids.map((id) => enroll(id)));
    await Promise.all(ids.map((id) => appear(id, 's1')));
    await Promise.all(ids.map((id) => ends(id, 'DEVICE_ENROLLED', 'DEVICE_CONNECTED')));
    await Promise.all(ids.map((id) => vanish(id)));
    await Promise.all(
      ids.map((id) => ends(id, 'DEVICE_ENROLLED', 'DEVICE_CONNECTED', 'DEVICE_SUSPECT', 'DEVICE_LOST')),
    );
    for (const id of ids) expect(await projected(id)).toMatchObject({ status: 'lost', revision: 4 });
  });
});
