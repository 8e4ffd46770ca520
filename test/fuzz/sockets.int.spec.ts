import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runChecks } from '../conformance/aip/run-checks.js';
import { CATALOGUE } from '../conformance/aip/catalogue.js';
import { startStand, type Gateway, type Stand } from '../conformance/aip/stand/stand.js';
import { readCorpus } from './corpus.js';
import { SEED, SOCKET_FRAMES } from './child.js';
import { ROOT } from './root.js';
import { fuzzSockets, type SocketFuzzResult } from './sockets.js';

/**
 * Processor time of the gateway for all frames, in that of this process, which makes and sends them in the same minutes on the same
 * machine. It is a little more than one; seconds in which a gateway serves nobody else show.
 */
const OWN_TIMES_MAX = 2;
const MICROSECONDS = 1e6;
const RSS_BYTES_MAX = 512 * 1024 * 1024;

describe('a real gateway', () => {
  let stand: Stand;
  let gateway: Gateway;
  let result: SocketFuzzResult;
  /** Seconds of the processor: of the gateway, and of this process. */
  const spent = { gateway: 0, own: 0 };

  const secondsOf = async (): Promise<typeof spent> => {
    const { user, system } = process.cpuUsage();
    const gatewaySeconds = (await gateway.metrics()).get('process_cpu_seconds_total') ?? Number.NaN;
    return { gateway: gatewaySeconds, own: (user + system) / MICROSECONDS };
  };

  beforeAll(async () => {
    stand = await startStand({ executes: false });
    gateway = await stand.gateway();
    const { target, devices, constellations } = gateway.options;
    const frames = SOCKET_FRAMES;
    const before = await secondsOf();
    result = await fuzzSockets({ target, devices, constellations, corpus: readCorpus(ROOT), seed: SEED, frames });
    const after = await secondsOf();
    Object.assign(spent, { gateway: after.gateway - before.gateway, own: after.own - before.own });
    const ends = [...result.ends].map(([end, count]) => `${end}: ${count}`).toSorted();
    process.stdout.write(
      `${result.frames} frames over ${result.connections} sockets, seed ${SEED}; ${ends.join(', ')}\n`,
    );
  });

  afterAll(async () => {
    await gateway.stop();
    await stand.stop();
  });

  it(`answers or closes, whatever comes (seed ${SEED})`, () => {
    expect(result.silent).toEqual([]);
    expect(result.malformed).toEqual([]);
  });

  it('goes on serving everybody else', async () => {
    expect(gateway.hasEnded()).toBe(false);
    const checks = CATALOGUE.filter(({ id }) => ['register.confirmed', 'r2.resumed', 'order.of-answers'].includes(id));
    expect(checks).toHaveLength(3);
    const results = await runChecks(checks, gateway.options);
    expect(results.map(({ outcome }) => outcome)).toEqual(['passed', 'passed', 'passed']);
  });

  it('was not held up, and keeps little', async () => {
    const rss = (await gateway.metrics()).get('process_resident_memory_bytes');
    const [served, made] = [spent.gateway, spent.own].map((seconds) => seconds.toFixed(2));
    process.stdout.write(`${served} s to serve what took ${made} s to make, ${rss ?? '?'} bytes resident\n`);
    expect(spent.gateway).toBeLessThan(OWN_TIMES_MAX * spent.own);
    expect(rss).toBeLessThan(RSS_BYTES_MAX);
  });
});
