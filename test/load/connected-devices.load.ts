import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../e2e/system.js';
import { CpuWatch, LoadSystem, pause, rssMib, say, scaled } from './load-system.js';
import { SimulatedDevices } from './simulated-devices.js';

const DEVICES = scaled(1_000, 100);
const HELD_MS = scaled(300_000, 5_000);
const RSS_MIB_MAX = 400;

describe(`${DEVICES} devices at one gateway`, () => {
  let load: LoadSystem;
  /** How to end what was started, the last one first. */
  const ends: (() => unknown)[] = [];

  beforeAll(async () => {
    load = await LoadSystem.start();
    ends.unshift(() => load.stop());
    await load.expectFiles(load.gatewayPid, DEVICES);
  });

  afterAll(async () => {
    for (const end of ends) await end();
  });

  it(`stay connected for ${HELD_MS / 1_000} s with their heartbeats, in bounded memory`, async () => {
    const begun = performance.now();
    const devices = await SimulatedDevices.start(load, DEVICES);
    ends.unshift(() => devices.stop());
    await until('all devices', async () => ((await devices.report()).connected === DEVICES ? true : undefined));
    const known = await until('all profiles', async () => {
      const connected = (await load.profiles()).filter(({ status }) => status === 'connected');
      return connected.length === DEVICES ? connected : undefined;
    });
    say(
      'connected and known to the registry',
      `${DEVICES} devices after ${Math.round((performance.now() - begun) / 1_000)} s`,
    );
    const sessions = new Map(known.map(({ deviceId, session }) => [deviceId, session?.sessionId]));
    const [before, cpu] = [await devices.report(), new CpuWatch(load.gatewayPid)];
    const cpus = devices.pids.map((pid) => new CpuWatch(pid));
    await pause(HELD_MS);
    const after = await devices.report();
    say('gateway', `${cpu.percent.toFixed(1)} % of a core, ${rssMib(load.gatewayPid).toFixed(0)} MiB at most`);
    say('both processes of devices', `${cpus.map(({ percent }) => percent.toFixed(1)).join(' and ')} % of a core`);
    say('heartbeats', `${after.heartbeats - before.heartbeats} in ${HELD_MS / 1_000} s`);
    expect(after).toMatchObject({ registered: DEVICES, connected: DEVICES, complaints: 0, ends: {} });
    const changed = (await load.profiles()).filter(
      ({ deviceId, status, session }) => status !== 'connected' || session?.sessionId !== sessions.get(deviceId),
    );
    expect(changed).toEqual([]);
    expect(rssMib(load.gatewayPid)).toBeLessThan(RSS_MIB_MAX);
  });
});
