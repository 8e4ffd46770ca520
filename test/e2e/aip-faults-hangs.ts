import type { CommandMessage } from '#proto';
import { query } from '#libs/messaging';
import { ChaosProxy, FakeDevice } from '#libs/testing';
import type { Fate, FaultRig } from './aip-faults-rig.js';
import { PATIENT } from './system.js';

/** Then the device is told to stop; the rest is the grace. */
export const TASK_MS = 1_500;
const LARGE_BYTES = 4_000;

export interface Stated extends Fate {
  readonly ms: number;
}

type Hang = (command: CommandMessage, device: FakeDevice, proxy: ChaosProxy) => void;

/** Devices that would keep a task waiting for ever. */
const HANGS: Readonly<Record<string, Hang>> = {
  'a device that never answers': () => undefined,
  'a device that starts and never ends': (command, device) => device.started(command),
  'a device that goes away in mid-frame': (command, device, proxy) => {
    proxy.refuse();
    void proxy.cutInFrame({ way: 'up', bytesMin: LARGE_BYTES });
    device.finish(command, { result: 'x'.repeat(LARGE_BYTES) });
  },
  'a device behind a half-open connection': (command, device, proxy) => {
    device.started(command);
    proxy.goSilent();
  },
};
export const HANGING = Object.keys(HANGS);

/** One task for each of them, all at once; what the log says of it in the end, and after how long. */
export async function hangs(
  rig: FaultRig,
): Promise<{ stated: (what: string) => Promise<Stated>; stop: () => Promise<void> }> {
  const stops: (() => unknown)[] = [];
  const all = new Map<string, Promise<Stated>>();
  for (const [index, what] of HANGING.entries()) {
    const hang = HANGS[what];
    if (hang === undefined) continue;
    const deviceId = `hang-${index}`;
    const proxy = await ChaosProxy.start(await rig.gatewayUrl());
    const admin = { tags: [], capabilities: [] };
    const { token } = await query(rig.nc, 'registry', 'enroll', { deviceId, admin }, PATIENT);
    const onCommand = (command: CommandMessage, device: FakeDevice): void => hang(command, device, proxy);
    const device = await FakeDevice.connect({ url: proxy.url, deviceId, token, onCommand });
    stops.push(
      () => device.cut(),
      () => proxy.close(),
    );
    await rig.untilSession(deviceId, () => true);
    const stated = hung(rig, deviceId);
    stated.catch(() => undefined);
    all.set(what, stated);
  }
  return {
    stated: (what) => all.get(what) ?? Promise.reject(new Error(`nobody knows ${what}`)),
    stop: async () => {
      for (const stop of stops) await stop();
    },
  };
}

async function hung(rig: FaultRig, deviceId: string): Promise<Stated> {
  const begun = performance.now();
  const command = { tool: 'EXEC_CLI', arguments: { command: 'true' } };
  const task = { id: 'task', name: deviceId, target: { device: deviceId }, command, timeoutMs: TASK_MS };
  const [fate] = await rig.fates(await rig.submit(deviceId, [task]));
  if (fate === undefined) throw new Error(`${deviceId} ended without an outcome`);
  return { ...fate, ms: performance.now() - begun };
}
