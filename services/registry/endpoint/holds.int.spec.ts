import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createUser } from '@nats-io/nkeys';
import { FLEET_ID, subjects, type Actor, type AgentProfile, type DeviceId } from '#proto';
import { checkKeptProof, proveActor } from '#libs/keys';
import { openFleetLog } from '#libs/event-log';
import { query, QueryRefusedError, type QueryRequest } from '#libs/messaging';
import { askRaw, introduce } from '#libs/testing';
import { telemetry } from '../given.testing.js';
import { KvProfiles } from '../projections/kv-profiles.adapter.js';
import { Rig, until } from '../rig.testing.js';

const ANNA: Actor = { kind: 'person', id: 'anna' };

let rig: Rig;
let seed: string;
beforeAll(async () => {
  rig = await Rig.start();
  seed = await introduce(rig.nc, ANNA);
});
afterEach(() => rig.stopRegistries());
afterAll(() => rig.stop());

const refusalOf = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    (answer) => answer,
    (error: unknown) => (error instanceof QueryRefusedError ? error.refusal : error),
  );
const heldBy = async (deviceId: DeviceId): Promise<string | null | undefined> => {
  const found = await rig.profile(deviceId);
  return found?.held === null ? null : found?.held.by.id;
};

describe('holds', () => {
  it('are in the profile when they are answered, and gone when they are released', async () => {
    await rig.startRegistry();
    await rig.enroll('held-1');
    expect(await rig.order('hold', 'held-1', { seed, reason: 'new disks' })).toEqual({ changed: true, devices: 1 });
    expect((await rig.profile('held-1'))?.held).toMatchObject({ by: ANNA, reason: 'new disks' });
    const { devices } = await query(rig.nc, 'registry', 'devices', {});
    expect(devices.find(({ deviceId }) => deviceId === 'held-1')?.held).toMatchObject({ by: ANNA });
    expect(await rig.order('release', 'held-1', { seed })).toEqual({ changed: true, devices: 1 });
    expect((await rig.profile('held-1'))?.held).toBeNull();
    expect(await rig.facts('held-1')).toEqual(['DEVICE_ENROLLED', 'DEVICE_HELD', 'DEVICE_RELEASED']);
  });

  it('of a screen say who has it, and when it was handed back', async () => {
    await rig.startRegistry();
    await rig.enroll('desk-1');
    expect(await refusalOf(rig.order('hold', 'desk-1', { seed, screen: true }))).toMatchObject({
      code: 'INVALID_STATE',
      message: 'desk-1 has no screen that could be taken over.',
    });
    expect(await refusalOf(rig.order('hold', null, { seed, screen: true }))).toMatchObject({
      issues: [{ path: 'deviceId' }],
    });
    expect(await rig.order('release', 'desk-1', { seed, screen: true })).toMatchObject({ changed: false });
    const tools = [{ name: 'click_input', description: '', readOnly: false }];
    await rig.appear('desk-1', 's1', undefined, { telemetry: telemetry({ tools }) });
    await until(
      async () => (await rig.profile('desk-1'))?.tools[0]?.name,
      (name) => name === 'click_input',
    );
    await rig.order('hold', 'desk-1', { seed, screen: true, reason: 'a dialog' });
    // To the scheduler it is held like any other.
    const taken = { by: ANNA, reason: 'a dialog', screen: true };
    expect(await rig.profile('desk-1')).toMatchObject({ held: taken, taken });
    await rig.order('release', 'desk-1', { seed, screen: true });
    expect(await rig.profile('desk-1')).toMatchObject({ held: null, handedBackAt: expect.any(String) });
    expect((await rig.profile('desk-1'))?.taken).toBeUndefined();
    expect((await rig.facts('desk-1')).slice(-2)).toEqual(['DEVICE_HELD', 'DEVICE_RELEASED']);
  });

  it('keep the proof of who ordered them, for whoever looks later', async () => {
    await rig.startRegistry();
    await rig.enroll('proven-1');
    await rig.order('hold', 'proven-1', { seed, reason: 'new disks' });
    await rig.order('release', 'proven-1', { seed });
    const commits = await openFleetLog(rig.nc).load('proven-1');
    const proofs = commits.flatMap(({ commit }) => commit.causes.flatMap(({ proof }) => proof ?? []));
    const admin = { tags: ['db'], capabilities: [] };
    expect(proofs.map((proof) => [proof.subject, proof.body, checkKeptProof(proof)])).toEqual([
      [subjects.query('registry', 'enroll'), { deviceId: 'proven-1', admin }, 'good'],
      [subjects.query('registry', 'hold'), { deviceId: 'proven-1', reason: 'new disks' }, 'good'],
      [subjects.query('registry', 'release'), { deviceId: 'proven-1' }, 'good'],
    ]);
  });

  it('of what is held already change nothing', async () => {
    await rig.startRegistry();
    await rig.enroll('held-2');
    expect(await rig.order('release', 'held-2', { seed })).toEqual({ changed: false, devices: 1 });
    await rig.order('hold', 'held-2', { seed, reason: 'first' });
    const bert = await introduce(rig.nc, { kind: 'person', id: 'bert' });
    const again = (): Promise<unknown> => refusalOf(rig.order('hold', 'held-2', { seed: bert, reason: 'second' }));
    await until(again, (answer) => JSON.stringify(answer) === JSON.stringify({ changed: false, devices: 1 }));
    expect((await rig.profile('held-2'))?.held).toMatchObject({ by: ANNA, reason: 'first' });
    expect(await rig.facts('held-2')).toEqual(['DEVICE_ENROLLED', 'DEVICE_HELD']);
  });

  it('of the whole fleet are in every profile, also of a device that is enrolled later', async () => {
    await rig.startRegistry();
    await Promise.all([rig.enroll('all-1'), rig.enroll('all-2')]);
    const known = (await query(rig.nc, 'registry', 'devices', {})).devices.length;
    expect(await rig.order('hold', null, { seed })).toEqual({ changed: true, devices: known });
    expect(await heldBy('all-1')).toBe('anna');
    await rig.enroll('all-3');
    const first = await until(
      () => rig.profile('all-3'),
      (found) => found !== undefined,
    );
    expect(first?.held?.by).toEqual(ANNA); // from its first moment on
    const { devices } = await query(rig.nc, 'registry', 'devices', {});
    expect(devices.filter(({ held }) => held === null)).toEqual([]);
    expect(devices.map(({ deviceId }) => deviceId)).not.toContain(FLEET_ID);
    expect(await rig.profile(FLEET_ID)).toBeUndefined();
    expect(await rig.order('release', null, { seed })).toEqual({ changed: true, devices: known + 1 });
    expect([await heldBy('all-1'), await heldBy('all-3')]).toEqual([null, null]);
  });

  it('are in every projection of every replica', async () => {
    const rows = new Map<DeviceId, AgentProfile>();
    const store = {
      name: 'rows',
      write: async (id: DeviceId, newest: () => Promise<AgentProfile>) => void rows.set(id, await newest()),
      remove: () => Promise.resolve(),
      list: () => Promise.resolve([]),
    };
    await rig.startRegistry({ instance: 'b', store });
    await Promise.all([rig.enroll('rows-1'), rig.enroll('rows-2')]);
    const held = async (): Promise<unknown[]> => ['rows-1', 'rows-2'].map((id) => rows.get(id)?.held?.by.id ?? null);
    await until(held, () => rows.has('rows-1') && rows.has('rows-2'));
    expect(await held()).toEqual([null, null]);
    await rig.order('hold', null, { seed });
    await until(held, (found) => found.every((by) => by === 'anna'));
    await rig.order('release', null, { seed });
    await until(held, (found) => found.every((by) => by === null));
  });

  it('of a device outlast the one of the whole fleet, and the other way round', async () => {
    await rig.startRegistry();
    await Promise.all([rig.enroll('both-1'), rig.enroll('both-2')]);
    await rig.order('hold', 'both-1', { seed, reason: 'its own' });
    await rig.order('hold', null, { seed, reason: 'all' });
    const reasons = async (): Promise<unknown[]> => [
      (await rig.profile('both-1'))?.held?.reason,
      (await rig.profile('both-2'))?.held?.reason,
    ];
    expect(await reasons()).toEqual(['its own', 'all']);
    await rig.order('release', 'both-1', { seed });
    expect(await reasons()).toEqual(['all', 'all']);
    await rig.order('hold', 'both-1', { seed, reason: 'its own' });
    await rig.order('release', null, { seed });
    expect(await reasons()).toEqual(['its own', undefined]);
  });

  it('are rebuilt by a registry that starts anew, and repaired in profiles that lost them', async () => {
    const killed = await rig.startRegistry();
    await Promise.all([rig.enroll('again-1'), rig.enroll('again-2')]);
    await rig.order('hold', 'again-1', { seed, reason: 'its own' });
    await rig.order('hold', null, { seed, reason: 'all' });
    await rig.kill(killed);
    const kv = new KvProfiles(rig.nc);
    await kv.remove('again-1');
    const forged = await rig.profile('again-2');
    if (forged === undefined) throw new Error('no profile');
    await kv.write('again-2', async () => ({ ...forged, held: null }));
    await rig.startRegistry({ instance: 'b' });
    await until(
      async () => [(await rig.profile('again-1'))?.held?.reason, (await rig.profile('again-2'))?.held?.reason],
      (found) => JSON.stringify(found) === JSON.stringify(['its own', 'all']),
    );
    expect(await rig.order('hold', null, { seed })).toMatchObject({ changed: false });
    await rig.order('release', null, { seed });
    expect([await heldBy('again-1'), await heldBy('again-2')]).toEqual(['anna', null]);
  });

  it('of one replica are never undone by a profile that the other one writes', async () => {
    await rig.startRegistry({ instance: 'a' });
    await rig.startRegistry({ instance: 'b' });
    const ids = Array.from({ length: 8 }, (_, index) => `race-${index}`);
    await Promise.all(ids.map((id) => rig.enroll(id)));
    // Every device connects while everything is held: whichever replica writes its profile, it says so.
    const connected = Promise.all(ids.map((id) => rig.appear(id, 's1')));
    await rig.order('hold', null, { seed });
    expect(await Promise.all(ids.map(heldBy))).toEqual(ids.map(() => 'anna'));
    await connected;
    const seen = new Set<string | null | undefined>();
    for (const id of ids) {
      await until(
        async () => {
          seen.add(await heldBy(id));
          return rig.profile(id);
        },
        (found) => found?.status === 'connected',
      );
      seen.add(await heldBy(id));
    }
    expect([...seen]).toEqual(['anna']);
    await rig.order('release', null, { seed });
    expect(await Promise.all(ids.map(heldBy))).toEqual(ids.map(() => null));
  });

  it('are refused with the devices that there are', async () => {
    await rig.startRegistry();
    await rig.enroll('there');
    const refusal = { code: 'NOT_FOUND', message: 'There is no device not-there.' };
    for (const name of ['hold', 'release'] as const) {
      expect(await refusalOf(rig.order(name, 'not-there', { seed }))).toMatchObject({
        ...refusal,
        issues: [{ path: 'deviceId', message: expect.stringMatching(/^must be one of /u) }],
      });
      expect(await refusalOf(rig.order(name, FLEET_ID, { seed }))).toMatchObject({ code: 'NOT_FOUND' });
    }
    expect(await rig.facts('not-there')).toEqual([]);
  });

  it('of nobody who is known, or signed for something else, are refused', async () => {
    await rig.startRegistry();
    await rig.enroll('safe');
    const stranger = new TextDecoder().decode(createUser().getSeed());
    const unauthorized = { code: 'UNAUTHORIZED' };
    expect(await refusalOf(rig.order('hold', 'safe', { seed: stranger }))).toMatchObject(unauthorized);
    expect(await refusalOf(rig.order('hold', 'safe', { seed, signed: 'release' }))).toMatchObject(unauthorized);
    const at = new Date().toISOString();
    const subject = subjects.query('registry', 'hold');
    const actor = proveActor(seed, { subject, at, body: { deviceId: 'other' } });
    expect(await refusalOf(askRaw(rig.nc, subject, { deviceId: 'safe', actor }))).toMatchObject(unauthorized);
    expect(await rig.facts('safe')).toEqual(['DEVICE_ENROLLED']);
  });

  it('leave the name of the fleet to nobody', async () => {
    await rig.startRegistry();
    expect(await refusalOf(rig.enroll(FLEET_ID))).toMatchObject({
      code: 'INVALID_REQUEST',
      issues: [{ path: 'deviceId' }],
    });
  });
});

describe('what an administrator says of a device', () => {
  /** Signed by who works at the rig. */
  const set = (body: Omit<QueryRequest<'registry', 'device-set'>, 'actor'>) =>
    query(rig.nc, 'registry', 'device-set', body);
  const givenOf = async (deviceId: DeviceId) =>
    Object.entries((await rig.profile(deviceId))?.given ?? {}).map(([key, { value, by }]) => [key, value, by.id]);

  it('is in the profile when it is answered, with its proof in the log, and is said once by each command', async () => {
    await rig.startRegistry();
    await rig.enroll('said-1');
    const order = { id: 'c1', deviceId: 'said-1', set: { 'gpu.memory_gb': 48, roles: ['db'] } };
    expect(await set(order)).toEqual({ changed: true, revision: 2 });
    expect(await givenOf('said-1')).toEqual([
      ['gpu.memory_gb', 48, 'olga'],
      ['roles', ['db'], 'olga'],
    ]);
    const later = { id: 'c2', deviceId: 'said-1', set: { 'gpu.memory_gb': 24 }, unset: ['roles'], revision: 2 };
    expect(await set(later)).toEqual({ changed: true, revision: 3 });
    expect(await set(order)).toEqual({ changed: true, revision: 3 });
    expect(await givenOf('said-1')).toEqual([['gpu.memory_gb', 24, 'olga']]);
    expect(await rig.facts('said-1')).toEqual(['DEVICE_ENROLLED', 'DEVICE_PROFILE_CHANGED', 'DEVICE_PROFILE_CHANGED']);
    const [, first] = await openFleetLog(rig.nc).load('said-1');
    const proofs = first?.commit.causes.flatMap(({ proof }) => proof ?? []) ?? [];
    expect(proofs.map((proof) => checkKeptProof(proof))).toEqual(['good']);
  });

  it('is the same after the registry was killed, and a command that comes again there changes nothing', async () => {
    const replica = await rig.startRegistry();
    await rig.enroll('said-2');
    const order = { id: 'c3', deviceId: 'said-2', set: { rack: { row: 7 } } };
    await set(order);
    await rig.kill(replica);
    await rig.startRegistry({ instance: 'b' });
    expect(
      await until(
        () => set(order),
        ({ changed }) => changed,
      ),
    ).toEqual({ changed: true, revision: 2 });
    expect(await rig.facts('said-2')).toEqual(['DEVICE_ENROLLED', 'DEVICE_PROFILE_CHANGED']);
  });

  it.each([
    ['a secret', { set: { db_password: 'x' } }, 'INVALID_REQUEST', 'set.db_password'],
    ['64 KiB', { set: { rack: 'x'.repeat(64 * 1024) } }, 'INVALID_REQUEST', 'set'],
    ['turned text', { set: { rack: 'a\u202eb' } }, 'INVALID_REQUEST', 'set.rack'],
    ['what was looked at before somebody changed it', { set: { rack: 1 }, revision: 9 }, 'INVALID_STATE', 'revision'],
    ['nothing', {}, 'INVALID_REQUEST', 'set'],
  ])('is refused when it is %s, with its path', async (_what, change, code, path) => {
    await rig.startRegistry();
    await rig.enroll('said-3');
    const refusal = await refusalOf(set({ id: 'c4', deviceId: 'said-3', ...change }));
    expect(refusal).toMatchObject({ code, issues: [{ path }] });
    expect(await givenOf('said-3')).toEqual([]);
  });

  it('is said of a device that is enrolled', async () => {
    await rig.startRegistry();
    expect(await refusalOf(set({ id: 'c5', deviceId: 'nobody', set: { rack: 1 } }))).toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});
