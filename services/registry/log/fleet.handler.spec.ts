import { beforeEach, describe, expect, it } from '@jest/globals';
import { FLEET_ID, type DeviceId, type Presence } from '#proto';
import { memoryFleetLog, verifyChain } from '#libs/event-log';
import { tokenHash } from '#libs/keys';
import { QueryRefusedError, TimerConflictError } from '#libs/messaging';
import { createLogger } from '#libs/platform';
import { FleetHandler, type FleetPorts } from './fleet.handler.js';
import { FleetState } from '#libs/fleet';
import { BY_ANNA, at, DEVICE_ID, GRACE_MS, HELD, presence, T0 } from '../given.testing.js';

const CAUSE = { kind: 'presence', id: DEVICE_ID } as const;

let log: ReturnType<typeof memoryFleetLog>;
let bucket: Map<DeviceId, Presence>;
let armed: { deviceId: DeviceId; at: number; facts: number }[];
let now: number;

beforeEach(() => {
  log = memoryFleetLog();
  bucket = new Map();
  armed = [];
  now = T0;
});

/** A replica with its own memory over the same log, bucket and timers. */
function replica(changes: Partial<FleetPorts> = {}): FleetHandler & { state: FleetState } {
  const state = new FleetState();
  const handler = new FleetHandler({
    log,
    state,
    timers: {
      arm: async (deviceId, at) => void armed.push({ deviceId, at, facts: (await log.load(deviceId)).length }),
      forget: () => undefined,
    },
    presence: async (deviceId) => bucket.get(deviceId),
    clock: { now: () => now },
    instance: 'a',
    graceMs: GRACE_MS,
    logger: createLogger({ service: 'registry', instance: 'a', level: 'silent' }),
    ...changes,
  });
  return Object.assign(handler, { state });
}

const facts = async (): Promise<string[]> =>
  (await log.load(DEVICE_ID)).flatMap(({ commit }) => commit.events.map(({ type }) => type));
const enrol = (handler: FleetHandler): Promise<{ deviceId: string; token: string }> =>
  handler.enroll({ deviceId: DEVICE_ID }, BY_ANNA);

describe('FleetHandler', () => {
  it('stores the hash of the token that it answers', async () => {
    const handler = replica();
    const { token } = await enrol(handler);
    expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    expect(handler.state.ownerOf(tokenHash(token))).toBe(DEVICE_ID);
  });

  it('keeps one unbroken chain over all that happens to a device', async () => {
    const handler = replica();
    await enrol(handler);
    bucket.set(DEVICE_ID, presence('s1'));
    await handler.look(DEVICE_ID, CAUSE);
    bucket.clear();
    await handler.look(DEVICE_ID, CAUSE);
    now += GRACE_MS;
    await handler.due(DEVICE_ID, { kind: 'timer', id: '1' }, now);
    expect(await facts()).toEqual(['DEVICE_ENROLLED', 'DEVICE_CONNECTED', 'DEVICE_SUSPECT', 'DEVICE_LOST']);
    expect(verifyChain((await log.load(DEVICE_ID)).map(({ commit }) => commit))).toEqual([]);
  });

  it('arms the end of the grace before it stores the suspicion', async () => {
    const handler = replica();
    await enrol(handler);
    bucket.set(DEVICE_ID, presence('s1'));
    await handler.look(DEVICE_ID, CAUSE);
    bucket.clear();
    await handler.look(DEVICE_ID, CAUSE);
    expect(armed).toEqual([{ deviceId: DEVICE_ID, at: T0 + GRACE_MS, facts: 2 }]);
  });

  it('stores no suspicion whose timer could not be armed', async () => {
    const handler = replica({
      timers: { arm: () => Promise.reject(new Error('no server')), forget: () => undefined },
    });
    await enrol(handler);
    bucket.set(DEVICE_ID, presence('s1'));
    await handler.look(DEVICE_ID, CAUSE);
    bucket.clear();
    await expect(handler.look(DEVICE_ID, CAUSE)).rejects.toThrow('no server');
    expect(await facts()).toEqual(['DEVICE_ENROLLED', 'DEVICE_CONNECTED']);
  });

  it('looks again when somebody else armed the timer meanwhile', async () => {
    let conflicts = 1;
    const arm = async (deviceId: DeviceId): Promise<void> => {
      if (conflicts-- > 0) throw new TimerConflictError(deviceId);
    };
    const handler = replica({ timers: { arm, forget: () => undefined } });
    await enrol(handler);
    bucket.set(DEVICE_ID, presence('s1'));
    await handler.look(DEVICE_ID, CAUSE);
    bucket.clear();
    await handler.look(DEVICE_ID, CAUSE);
    expect(await facts()).toEqual(['DEVICE_ENROLLED', 'DEVICE_CONNECTED', 'DEVICE_SUSPECT']);
  });

  it('arms again when a timer of an older suspicion fires', async () => {
    const handler = replica();
    await enrol(handler);
    bucket.set(DEVICE_ID, presence('s1'));
    await handler.look(DEVICE_ID, CAUSE);
    bucket.clear();
    await handler.look(DEVICE_ID, CAUSE);
    await handler.due(DEVICE_ID, { kind: 'timer', id: '1' }, T0 + 1);
    expect(armed.map((timer) => timer.at)).toEqual([T0 + GRACE_MS, T0 + GRACE_MS]);
    expect(await facts()).toHaveLength(3);
  });

  it('declares the loss at the instant of the timer even when the own clock is behind', async () => {
    const handler = replica();
    await enrol(handler);
    bucket.set(DEVICE_ID, presence('s1'));
    await handler.look(DEVICE_ID, CAUSE);
    bucket.clear();
    await handler.look(DEVICE_ID, CAUSE);
    now = T0 - 5_000;
    await handler.due(DEVICE_ID, { kind: 'timer', id: '1' }, T0 + GRACE_MS);
    expect((await facts()).at(-1)).toBe('DEVICE_LOST');
  });

  it('keeps a device that is back when its timer fires', async () => {
    const handler = replica();
    await enrol(handler);
    bucket.set(DEVICE_ID, presence('s1'));
    await handler.look(DEVICE_ID, CAUSE);
    bucket.clear();
    await handler.look(DEVICE_ID, CAUSE);
    bucket.set(DEVICE_ID, presence('s2'));
    await handler.due(DEVICE_ID, { kind: 'timer', id: '1' }, T0 + GRACE_MS);
    await handler.due(DEVICE_ID, { kind: 'timer', id: '1' }, T0 + GRACE_MS);
    expect(await facts()).toEqual(['DEVICE_ENROLLED', 'DEVICE_CONNECTED', 'DEVICE_SUSPECT', 'DEVICE_CONNECTED']);
  });

  it('is decided once by two replicas that see the same', async () => {
    const [a, b] = [replica(), replica({ instance: 'b' })];
    await enrol(a);
    bucket.set(DEVICE_ID, presence('s1'));
    const decisions = await Promise.all([a.look(DEVICE_ID, CAUSE), b.look(DEVICE_ID, CAUSE)]);
    expect(decisions.map(({ kind }) => kind).toSorted()).toEqual(['accepted', 'ignored']);
    expect(await facts()).toEqual(['DEVICE_ENROLLED', 'DEVICE_CONNECTED']);
  });

  it('reads the presence after the log, so an older session never follows a newer one', async () => {
    const b = replica({ instance: 'b' });
    await enrol(b);
    bucket.set(DEVICE_ID, presence('s1'));
    // Between the load and the append of this replica the device connects anew and the other replica records it.
    let first = true;
    const slow = replica({
      presence: async (deviceId) => {
        const seen = bucket.get(deviceId);
        if (first) {
          first = false;
          bucket.set(DEVICE_ID, presence('s2'));
          await b.look(DEVICE_ID, CAUSE);
        }
        return seen;
      },
    });
    await slow.look(DEVICE_ID, CAUSE);
    const sessions = (await log.load(DEVICE_ID)).flatMap(({ commit }) =>
      commit.events.flatMap((event) => (event.type === 'DEVICE_CONNECTED' ? [event.data.session.sessionId] : [])),
    );
    expect(sessions).toEqual(['s2']);
  });

  it('repeats a look whose append nobody could confirm without a second fact', async () => {
    const handler = replica();
    await enrol(handler);
    bucket.set(DEVICE_ID, presence('s1'));
    log.faults.push('stored-unknown');
    await expect(handler.look(DEVICE_ID, CAUSE)).rejects.toThrow(/could not be appended/u);
    expect(await handler.look(DEVICE_ID, CAUSE)).toEqual({ kind: 'ignored', reason: 'SAME_SESSION' });
    expect(await facts()).toEqual(['DEVICE_ENROLLED', 'DEVICE_CONNECTED']);
  });
});

describe('holds', () => {
  const order = { ...BY_ANNA, reason: 'new disks' };
  const fleetFacts = async (): Promise<string[]> =>
    (await log.load(FLEET_ID)).flatMap(({ commit }) => commit.events.map(({ type }) => type));

  it('are facts in the chain of their device, each once', async () => {
    const handler = replica();
    await enrol(handler);
    expect(await handler.hold(DEVICE_ID, order)).toMatchObject({ kind: 'accepted' });
    expect(await handler.hold(DEVICE_ID, order)).toEqual({ kind: 'ignored', reason: 'ALREADY_HELD' });
    expect(handler.state.get(DEVICE_ID)?.device.held).toEqual(HELD);
    expect(await handler.release(DEVICE_ID, order)).toMatchObject({ kind: 'accepted' });
    expect(await handler.release(DEVICE_ID, order)).toEqual({ kind: 'ignored', reason: 'NOT_HELD' });
    expect(await facts()).toEqual(['DEVICE_ENROLLED', 'DEVICE_HELD', 'DEVICE_RELEASED']);
    expect(verifyChain((await log.load(DEVICE_ID)).map(({ commit }) => commit))).toEqual([]);
  });

  it('of the whole fleet have a chain of their own, also before any device is enrolled', async () => {
    const handler = replica();
    await handler.hold(null, order);
    await handler.release(null, order);
    now += 1_000;
    await handler.hold(null, order);
    expect(handler.state.fleetHeld()).toEqual({ ...HELD, heldAt: at(1_000) });
    expect(await fleetFacts()).toEqual(['DEVICE_HELD', 'DEVICE_RELEASED', 'DEVICE_HELD']);
    expect(verifyChain((await log.load(FLEET_ID)).map(({ commit }) => commit))).toEqual([]);
    expect(handler.state.all()).toEqual([]);
  });

  it('of two replicas at the same time are one fact', async () => {
    const [a, b] = [replica(), replica({ instance: 'b' })];
    await enrol(a);
    const decisions = await Promise.all([a.hold(null, order), b.hold(null, order)]);
    expect(decisions.map(({ kind }) => kind).toSorted()).toEqual(['accepted', 'ignored']);
    expect(await fleetFacts()).toEqual(['DEVICE_HELD']);
    expect([await a.fleetHeld(), await b.fleetHeld()]).toEqual([HELD, HELD]);
  });

  it('are asked of the log, not of the memory', async () => {
    const [a, b] = [replica(), replica({ instance: 'b' })];
    expect(await b.fleetHeld()).toBeNull();
    await a.hold(null, order);
    expect(await b.fleetHeld()).toEqual(HELD);
  });

  it('of nobody are refused, and of the name of the fleet, which is no device', async () => {
    const handler = replica();
    await handler.hold(null, order);
    for (const id of [DEVICE_ID, FLEET_ID]) {
      expect(await handler.hold(id, order)).toEqual({ kind: 'ignored', reason: 'NOT_ENROLLED' });
      expect(await handler.release(id, order)).toEqual({ kind: 'ignored', reason: 'NOT_ENROLLED' });
    }
    expect(await facts()).toEqual([]);
    expect(await fleetFacts()).toEqual(['DEVICE_HELD']);
  });

  it('leave the name of the fleet to nobody', async () => {
    const refusal = await replica()
      .enroll({ deviceId: FLEET_ID }, BY_ANNA)
      .catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(QueryRefusedError);
    expect(refusal).toMatchObject({ refusal: { code: 'INVALID_REQUEST', issues: [{ path: 'deviceId' }] } });
    expect(await fleetFacts()).toEqual([]);
  });
});

describe('joining', () => {
  const KEY = `${'K'.repeat(42)}A`;
  const OTHER_KEY = `${'L'.repeat(42)}A`;
  const reasonOf = (asked: Promise<unknown>): Promise<unknown> =>
    asked.then(
      () => 'joined',
      (error: unknown) => (error instanceof QueryRefusedError ? error.refusal.code : error),
    );
  const invite = async (handler: FleetHandler): Promise<string> =>
    tokenHash((await handler.enroll({ deviceId: DEVICE_ID, credential: 'join' }, BY_ANNA)).token);

  it('has a token of 128 bit that is good for a quarter of an hour', async () => {
    const handler = replica();
    const { token, expiresAt } = await handler.enroll({ deviceId: DEVICE_ID, credential: 'join' }, BY_ANNA);
    expect(token).toMatch(/^join-[\w-]{22}$/u);
    expect(expiresAt).toBe(at(15 * 60 * 1_000));
    expect(JSON.stringify(await log.load(DEVICE_ID))).not.toContain(token);
    now += 15 * 60 * 1_000;
    expect(await reasonOf(handler.join(DEVICE_ID, { tokenHash: tokenHash(token), publicKey: KEY }))).toBe(
      'TOKEN_EXPIRED',
    );
  });

  it('is one fact, however often the same key asks', async () => {
    const handler = replica();
    const hash = await invite(handler);
    for (let index = 0; index < 3; index++) await handler.join(DEVICE_ID, { tokenHash: hash, publicKey: KEY });
    expect(await facts()).toEqual(['DEVICE_ENROLLED', 'DEVICE_JOINED']);
  });

  it('is won by one of two keys that come to two replicas with one token', async () => {
    const [a, b] = [replica(), replica({ instance: 'b' })];
    const hash = await invite(a);
    const answers = await Promise.all([
      reasonOf(a.join(DEVICE_ID, { tokenHash: hash, publicKey: KEY })),
      reasonOf(b.join(DEVICE_ID, { tokenHash: hash, publicKey: OTHER_KEY })),
    ]);
    expect(new Set(answers)).toEqual(new Set(['joined', 'TOKEN_USED']));
    expect(await facts()).toEqual(['DEVICE_ENROLLED', 'DEVICE_JOINED']);
  });
});

describe('names', () => {
  const issueOf = (asked: Promise<unknown>): Promise<unknown> =>
    asked.catch((error: unknown) => (error instanceof QueryRefusedError ? error.refusal.issues[0] : error));

  it('of devices and clients are one kind: whoever is first has it', async () => {
    const handler = replica();
    await enrol(handler);
    await handler.enrollClient({ clientId: 'planner-1', targets: null }, BY_ANNA);
    expect(await issueOf(handler.enrollClient({ clientId: DEVICE_ID, targets: null }, BY_ANNA))).toEqual({
      path: 'clientId',
      message: 'must be another name: a device is enrolled as web-1',
    });
    expect(await issueOf(handler.enroll({ deviceId: 'planner-1' }, BY_ANNA))).toEqual({
      path: 'deviceId',
      message: 'must be another name: a client is enrolled as planner-1',
    });
    expect(await issueOf(handler.enrollClient({ clientId: FLEET_ID, targets: null }, BY_ANNA))).toMatchObject({
      path: 'clientId',
    });
  });

  it('are made for who has none', async () => {
    const handler = replica();
    expect((await handler.enroll({}, BY_ANNA)).deviceId).toMatch(/^device-[0-9a-f]{20}$/u);
    const { clientId, token } = await handler.enrollClient({ targets: [DEVICE_ID] }, BY_ANNA);
    expect(clientId).toMatch(/^client-[0-9a-f]{20}$/u);
    expect(handler.state.ownerOf(tokenHash(token))).toBe(clientId);
  });
});
