import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runChecks } from '../conformance/aip/run-checks.js';
import { CATALOGUE } from '../conformance/aip/catalogue.js';
import { startStand, type Gateway, type Stand } from '../conformance/aip/stand/stand.js';
import { readCorpus } from './corpus.js';
import { FRAMES, SEED } from './child.js';
import { ROOT } from './root.js';
import { fuzzSockets, type SocketFuzzResult } from './sockets.js';
import { SOCKET_SHARE } from './targets.js';

/** Ten times what is aimed at, beside what the machine itself holds up: this process, which asks, waits for a core as well. */
const LOOP_SECONDS_MAX = 1;
const OWN_TIMES_MAX = 10;
const NANOSECONDS = 1e9;
const RSS_BYTES_MAX = 512 * 1024 * 1024;

describe('a real gateway', () => {
  let stand: Stand;
  let gateway: Gateway;
  let result: SocketFuzzResult;
  const own = monitorEventLoopDelay();

  beforeAll(async () => {
    own.enable();
    stand = await startStand({ executes: false });
    gateway = await stand.gateway();
    const { target, devices, constellations } = gateway.options;
    const frames = Math.round(FRAMES * SOCKET_SHARE);
    result = await fuzzSockets({ target, devices, constellations, corpus: readCorpus(ROOT), seed: SEED, frames });
    const ends = [...result.ends].map(([end, count]) => `${end}: ${count}`).toSorted();
    process.stdout.write(
      `${result.frames} frames over ${result.connections} sockets, seed ${SEED}; ${ends.join(', ')}\n`,
    );
  });

  afterAll(async () => {
    own.disable();
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

  it('was not held up for long, and keeps little', async () => {
    const metrics = await gateway.metrics();
    const [loop, rss] = [metrics.get('nodejs_eventloop_lag_max_seconds'), metrics.get('process_resident_memory_bytes')];
    process.stdout.write(`event loop held up ${loop ?? '?'} s at most, ${rss ?? '?'} bytes resident\n`);
    expect(loop).toBeLessThan(LOOP_SECONDS_MAX + (OWN_TIMES_MAX * own.max) / NANOSECONDS);
    expect(rss).toBeLessThan(RSS_BYTES_MAX);
  });
});
