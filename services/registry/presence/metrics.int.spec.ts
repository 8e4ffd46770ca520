import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import { BUCKETS, type MeasuredMetrics } from '#proto';
import { query } from '#libs/messaging';
import { Rig, until } from '../rig.testing.js';

const T0 = Date.parse('2026-11-20T12:00:00.000Z');
const metrics = (afterMs: number, load1: number): MeasuredMetrics => ({
  load1,
  memoryFreeMb: 1_000,
  diskFreeMb: 10_000,
  gpus: [],
  at: new Date(T0 + afterMs).toISOString(),
});

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterEach(() => rig.stopRegistries());
afterAll(() => rig.stop());

const shown = async (deviceId: string): Promise<MeasuredMetrics | null | undefined> =>
  (await rig.profile(deviceId))?.metrics;
/** Where in the bucket the profile was written last. */
async function lastWrite(deviceId: string): Promise<number> {
  const stream = `KV_${BUCKETS.AGENT_PROFILES.bucket}`;
  const jsm = await jetstreamManager(rig.nc);
  const found = await jsm.streams.getMessage(stream, { last_by_subj: `$KV.AGENT_PROFILES.${deviceId}` });
  return found?.seq ?? 0;
}

describe('metrics', () => {
  it('are in the profile, and in no log', async () => {
    await rig.startRegistry();
    await rig.enroll('busy');
    await rig.appear('busy', 's1', metrics(0, 1));
    await until(
      () => shown('busy'),
      (found) => found?.load1 === 1,
    );
    await rig.appear('busy', 's1', metrics(10_000, 2));
    await until(
      () => shown('busy'),
      (found) => found?.load1 === 2,
    );
    const { devices } = await query(rig.nc, 'registry', 'devices', {});
    expect(devices.find(({ deviceId }) => deviceId === 'busy')?.metrics).toEqual(metrics(10_000, 2));
    expect(await rig.facts('busy')).toEqual(['DEVICE_ENROLLED', 'DEVICE_CONNECTED']);
    expect(await rig.profile('busy')).toMatchObject({ revision: 2 });
  });

  it('that say nothing new write nothing, whichever of two replicas sees them', async () => {
    await rig.startRegistry({ instance: 'a' });
    await rig.startRegistry({ instance: 'b' });
    await rig.enroll('idle');
    await rig.appear('idle', 's1', metrics(0, 1));
    await until(
      () => shown('idle'),
      (found) => found?.load1 === 1,
    );
    const before = await lastWrite('idle');
    await rig.appear('idle', 's1', metrics(5_000, 9));
    await rig.appear('idle', 's1', metrics(20_000, 1.1));
    await rig.appear('idle', 's1', metrics(59_000, 1.2));
    // A change that is worth a write comes after them: by then they have been seen, and looked past.
    await rig.appear('idle', 's1', metrics(60_000, 1));
    await until(
      () => shown('idle'),
      (found) => found?.at === metrics(60_000, 1).at,
    );
    expect(await lastWrite('idle')).toBe(before + 1);
  });

  it('of an earlier session are not shown', async () => {
    await rig.startRegistry();
    await rig.enroll('back');
    await rig.appear('back', 's1', metrics(0, 1));
    await until(
      () => shown('back'),
      (found) => found?.load1 === 1,
    );
    await rig.appear('back', 's2');
    await until(
      () => rig.profile('back'),
      (profile) => profile?.session?.sessionId === 's2',
    );
    expect(await shown('back')).toBeNull();
  });
});
