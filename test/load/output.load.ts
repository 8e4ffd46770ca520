import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AgentProfile } from '#proto';
import { spreadOf } from '../bench/statistics.js';
import type { DeviceProcess } from '../e2e/aip-faults-process.js';
import { CpuWatch, LoadSystem, MemoryWatch, pause, say, scaled } from './load-system.js';

const BYTES = scaled(100_000_000, 10_000_000);
/** Together 50: more on one device would be about the device's own memory, in which it keeps head and tail of each. */
const PRINTERS = scaled(10, 2);
const COMMANDS_EACH = 5;
const SECONDS = scaled(20, 3);
const BYTES_PER_SECOND = 1_000_000;
/** Both ends of the socket, whatever is printed. */
const GROWTH_MIB_AIM = 64;
/** Each output that is longer than its result holds is stored meanwhile, in windows of a mebibyte: bounded, but by their number. */
const GROWTH_MIB_MAX = 192;
const QUIET_MS = scaled(10_000, 2_000);
const ASK_EVERY_MS = 100;

const print = (bytes: number): string => `head -c ${bytes} /dev/zero | tr '\\0' x`;

describe('commands that print much', () => {
  let load: LoadSystem;
  let printers: readonly DeviceProcess[];
  let printing: readonly AgentProfile[];
  let other: AgentProfile;
  /** How to end what was started, the last one first. */
  const ends: (() => unknown)[] = [];

  beforeAll(async () => {
    load = await LoadSystem.start();
    ends.unshift(() => load.stop());
    const ids = Array.from({ length: PRINTERS }, (_, index) => `printer-${index}`);
    printers = await load.realDevices(ids, COMMANDS_EACH);
    await load.realDevices(['other'], COMMANDS_EACH);
    printing = await Promise.all(ids.map((id) => load.connected(id)));
    other = await load.connected('other');
    // Unmeasured: code is loaded, and heaps are as large as one long output makes them.
    for (const profile of [...printing, other]) await load.command(profile, print(BYTES_PER_SECOND));
  });

  afterAll(async () => {
    for (const end of ends) await end();
  });

  /** Checks the bound at both ends of the socket. */
  async function inBoundedMemory<T>(what: string, growthMibMax: number, work: () => Promise<T>): Promise<T> {
    const gateway = new MemoryWatch([load.gatewayPid]);
    const devices = new MemoryWatch(printers.map(({ pid }) => pid));
    const cpu = new CpuWatch(load.gatewayPid);
    const [begun, result] = [performance.now(), await work()];
    say(what, `${((performance.now() - begun) / 1_000).toFixed(1)} s, gateway ${cpu.percent.toFixed(0)} % of a core`);
    const [ofGateway, ofDevices] = [gateway.growthMib, devices.growthMib];
    say(
      '  memory',
      `gateway +${ofGateway.toFixed(0)} MiB, the largest process of a device +${ofDevices.toFixed(0)} MiB`,
    );
    say(`  aim: both below ${GROWTH_MIB_AIM} MiB`, Math.max(ofGateway, ofDevices) < GROWTH_MIB_AIM ? 'met' : 'missed');
    expect(ofGateway).toBeLessThan(growthMibMax);
    expect(ofDevices).toBeLessThan(growthMibMax);
    return result;
  }

  it(`${BYTES / 1e6} MB of one command: head and tail are kept, memory is bounded`, async () => {
    const [one] = printing;
    if (one === undefined) throw new Error('no device');
    const { result } = await inBoundedMemory(`${BYTES / 1e6} MB of one command`, GROWTH_MIB_AIM, () =>
      load.command(one, `echo first; ${print(BYTES)}; echo; echo last`),
    );
    expect(result['stdout_bytes']).toBe(BYTES + 'first\n\nlast\n'.length);
    expect(String(result['stdout'])).toMatch(/^first\n/u);
    expect(String(result['stdout'])).toMatch(/\nlast\n$/u);
  });

  it(`${PRINTERS * COMMANDS_EACH} commands that print 1 MB a second each: memory is bounded, others go on`, async () => {
    const before = spreadOf(await roundTrips(pause(QUIET_MS)));
    const script = `i=0; while [ $i -lt ${SECONDS} ]; do ${print(BYTES_PER_SECOND)}; sleep 1; i=$((i+1)); done`;
    const during = await inBoundedMemory(
      `${PRINTERS * COMMANDS_EACH} commands at 1 MB/s for ${SECONDS} s`,
      GROWTH_MIB_MAX,
      async () => {
        const five = Array.from({ length: COMMANDS_EACH });
        const all = Promise.all(printing.flatMap((device) => five.map(() => load.command(device, script))));
        const trips = await roundTrips(all);
        for (const { result } of await all) expect(result['stdout_bytes']).toBe(SECONDS * BYTES_PER_SECOND);
        return spreadOf(trips);
      },
    );
    const times = ({ median, p99 }: typeof before): string => `p50 ${median.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;
    say('  `true` on another device, before', times(before));
    say(
      '  `true` on another device, meanwhile',
      `${times(during)}: ${(during.p99 / before.p99).toFixed(1)} times the p99`,
    );
  });

  /** Of `true` on the device that prints nothing, until that is over. */
  async function roundTrips(over: Promise<unknown>): Promise<number[]> {
    const [times, state] = [[] as number[], { over: false }];
    const end = (): void => void (state.over = true);
    over.then(end, end);
    while (!state.over) {
      times.push((await load.command(other, 'true')).ms);
      await pause(ASK_EVERY_MS);
    }
    return times;
  }
});
