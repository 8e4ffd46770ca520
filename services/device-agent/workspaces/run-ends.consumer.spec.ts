import { beforeEach, describe, expect, it } from '@jest/globals';
import type { RunOptions } from '#proto';
import { LIMITS } from '#proto';
import { messageOf, TestAgent, World } from '../testing/agent.js';
import { ScriptedDevice } from '../testing/device.js';
import { DEVICE_ID, ENDED_AT, RUN_ID, TestRun } from '../testing/run.js';

/* The end of a run, told to the devices that it had a workspace on. */

const A = { id: 'a', start: { workspace: true as const } };
const B = { id: 'b', start: { workspace: true as const, deviceId: 'db-1' } };
const PLAIN = { id: 'c', start: { deviceId: 'log-1' } };
const LATER = '2026-11-20T10:00:00.080Z';

let world: World;
let device: ScriptedDevice;

beforeEach(() => {
  device = new ScriptedDevice();
  world = new World(device);
});

function started(options: RunOptions = {}): TestRun {
  const run = new TestRun([A, B, PLAIN], RUN_ID, undefined, options);
  run.start(A, B, PLAIN);
  return run;
}
const forget = (deviceId: string, keep = false) => ({
  kind: 'forget',
  runId: RUN_ID,
  endedAt: ENDED_AT,
  keep,
  deviceId,
});

describe('the end of a run', () => {
  it('is told to each device that had a workspace of it, and to no other', async () => {
    const run = started();
    const end = run.end();
    await world.record(run);
    expect(await new TestAgent(world).ends.handle(messageOf(end))).toEqual({ kind: 'done' });
    expect(device.requests).toEqual([forget(DEVICE_ID), forget('db-1')]);
  });

  it('says that the workspace is kept when the request said so', async () => {
    const run = started({ keepWorkspace: true });
    const end = run.end();
    await world.record(run);
    await new TestAgent(world).ends.handle(messageOf(end));
    expect(device.requests).toEqual([forget(DEVICE_ID, true), forget('db-1', true)]);
  });

  it.each(['away', 'silent'] as const)('waits for a device that is %s, and the others need not', async (state) => {
    const run = started();
    const end = run.end();
    await world.record(run);
    device.intercept = ({ kind, deviceId }) => (kind === 'forget' && deviceId === 'db-1' ? { state } : undefined);
    const { ends } = new TestAgent(world);
    expect(await ends.handle(messageOf(end))).toMatchObject({ kind: 'retry', delayMs: 1_000 });
    expect(await ends.handle(messageOf(end, 100))).toMatchObject({ kind: 'retry', delayMs: 300_000 });
    device.intercept = () => undefined;
    expect(await new TestAgent(world, { instance: 'i2' }).ends.handle(messageOf(end, 101))).toEqual({ kind: 'done' });
    expect(device.requests.at(-1)).toEqual(forget('db-1'));
  });

  it('is over for a device that keeps no workspaces', async () => {
    const run = started();
    const end = run.end();
    await world.record(run);
    device.intercept = () => ({ state: 'refused', code: 'NO_WORKSPACES', message: 'none' });
    expect(await new TestAgent(world).ends.handle(messageOf(end))).toEqual({ kind: 'done' });
  });

  it('is not told of a run that was opened again, whose next end counts', async () => {
    const run = started();
    const end = run.end();
    run.reopen('2026-11-20T10:00:00.060Z');
    await world.record(run);
    const { ends } = new TestAgent(world);
    expect(await ends.handle(messageOf(end))).toEqual({ kind: 'done' });
    expect(device.requests).toEqual([]);
    const again = run.end(LATER);
    await world.record(run);
    await ends.handle(messageOf(again));
    expect(device.requests[0]).toEqual({ ...forget(DEVICE_ID), endedAt: LATER });
  });

  it('is told nobody after a week: a device that was not asked for it removes it itself', async () => {
    const run = started();
    const end = run.end(new Date(Date.parse(ENDED_AT) - LIMITS.workspaceUnusedMs - 1_000).toISOString());
    await world.record(run);
    device.away = true;
    expect(await new TestAgent(world).ends.handle(messageOf(end))).toEqual({ kind: 'done' });
  });

  it('of a directory that was kept is told to the one device that may let go of it', async () => {
    const run = started({ keepWorkspace: true });
    run.end();
    const word = run.discard('db-1');
    await world.record(run);
    expect(await new TestAgent(world).ends.handle(messageOf(word))).toEqual({ kind: 'done' });
    expect(device.requests).toEqual([forget('db-1')]);
  });

  it('is told once more, of a kept directory, to a device that was away when somebody discarded it', async () => {
    const run = started({ keepWorkspace: true });
    run.end();
    const word = run.discard(DEVICE_ID);
    await world.record(run);
    device.away = true;
    const { ends } = new TestAgent(world);
    expect(await ends.handle(messageOf(word))).toMatchObject({ kind: 'retry' });
    device.away = false;
    expect(await ends.handle(messageOf(word, 2))).toEqual({ kind: 'done' });
    expect(device.requests.at(-1)).toEqual(forget(DEVICE_ID));
  });

  it('of a directory that was discarded long after the end is told all the same', async () => {
    const run = started({ keepWorkspace: true });
    run.end(new Date(Date.parse(ENDED_AT) - LIMITS.workspaceUnusedMs - 1_000).toISOString());
    const word = run.discard(DEVICE_ID);
    await world.record(run);
    await new TestAgent(world).ends.handle(messageOf(word));
    expect(device.requests).toMatchObject([{ deviceId: DEVICE_ID, keep: false }]);
  });

  it('is not told of a directory that was discarded before the run was opened again', async () => {
    const run = started({ keepWorkspace: true });
    run.end();
    const word = run.discard(DEVICE_ID);
    run.reopen('2026-11-20T10:00:00.060Z');
    await world.record(run);
    const { ends } = new TestAgent(world);
    expect(await ends.handle(messageOf(word))).toEqual({ kind: 'done' });
    expect(device.requests).toEqual([]);
    const again = run.end(LATER);
    await world.record(run);
    await ends.handle(messageOf(again));
    expect(device.requests).toContainEqual({ ...forget(DEVICE_ID, true), endedAt: LATER });
  });

  it('costs nothing where no run has ended', async () => {
    const run = started();
    const calls: string[] = [];
    const { ends } = new TestAgent(world, { before: async (call) => void calls.push(call) });
    await ends.handle(messageOf(run.start({ id: 'a', attempt: 2 })));
    expect(calls).toEqual([]);
  });
});

describe('what people ask of workspaces', () => {
  it('is answered by the device', async () => {
    const workspaces = [{ runId: RUN_ID, bytes: 5, files: 1, usedAt: ENDED_AT, kept: true }];
    device.intercept = () => ({ state: 'workspaces', workspaces, more: 2 });
    expect(await new TestAgent(world).workspaces.list({ deviceId: DEVICE_ID })).toEqual({ workspaces, more: 2 });
  });

  it('is refused with what is wrong', async () => {
    const agent = new TestAgent(world);
    device.away = true;
    await expect(agent.workspaces.list({ deviceId: DEVICE_ID })).rejects.toThrow('does not answer');
    device.away = false;
    device.intercept = () => ({ state: 'refused', code: 'NO_WORKSPACES', message: 'none' });
    await expect(agent.workspaces.list({ deviceId: DEVICE_ID })).rejects.toThrow('keeps no workspaces');
    agent.profile = undefined;
    await expect(agent.workspaces.list({ deviceId: 'nobody' })).rejects.toThrow('There is no device nobody.');
  });
});
