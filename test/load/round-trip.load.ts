import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import type { AgentProfile } from '#proto';
import { spreadOf } from '../bench/statistics.js';
import { said, start } from './child.js';
import { CpuWatch, LoadSystem, pause, say, scaled } from './load-system.js';

const DEVICES = scaled(50, 3);
const MEASURED_MS = scaled(60_000, 5_000);
/** Each device gets a command this often; an echo goes out twenty times as often. */
const EVERY_MS = 1_000;
const ECHO_EVERY_MS = 50;
/** About as large as a COMMAND frame. */
const ECHO_BYTES = 400;
const AIM_MS = 20;

describe(`a command that does nothing, on ${DEVICES} devices`, () => {
  let load: LoadSystem;
  let socket: WebSocket;
  let profiles: AgentProfile[];
  /** How to end what was started, the last one first. */
  const ends: (() => unknown)[] = [];

  beforeAll(async () => {
    load = await LoadSystem.start();
    ends.unshift(() => load.stop());
    const ids = Array.from({ length: DEVICES }, (_, index) => `real-${index}`);
    await load.realDevices(ids, 8);
    profiles = await Promise.all(ids.map((id) => load.connected(id)));
    const echo = start('echo.main.ts');
    ends.unshift(() => echo.disconnect());
    const { port } = await said<{ port: number }>(echo);
    socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false });
    await once(socket, 'open');
    ends.unshift(() => socket.terminate());
    // Unmeasured: code is loaded and compiled.
    for (const profile of profiles) await load.command(profile, 'true');
  });

  afterAll(async () => {
    for (const end of ends) await end();
  });

  it('goes to a device and back beside what a bare socket takes', async () => {
    const [commands, echoes, cpu] = [[] as number[], [] as number[], new CpuWatch(load.gatewayPid)];
    const until = performance.now() + MEASURED_MS;
    const working = profiles.map((profile, index) =>
      each(EVERY_MS, { until, after: (EVERY_MS * index) / DEVICES }, async () => {
        commands.push((await load.command(profile, 'true')).ms);
      }),
    );
    const beside = each(ECHO_EVERY_MS, { until, after: 0 }, async () => void echoes.push(await echoed(socket)));
    await Promise.all([...working, beside]);
    const [command, bare] = [spreadOf(commands), spreadOf(echoes)];
    say('command `true`', `p50 ${command.median.toFixed(2)} ms, p99 ${command.p99.toFixed(2)} ms of ${command.count}`);
    say(
      'bare WebSocket echo beside it',
      `p50 ${bare.median.toFixed(2)} ms, p99 ${bare.p99.toFixed(2)} ms of ${bare.count}`,
    );
    say('ratio of the medians', (command.median / bare.median).toFixed(0));
    say(`aim: p50 below ${AIM_MS} ms`, command.median < AIM_MS ? 'met' : 'missed');
    say('gateway', `${cpu.percent.toFixed(1)} % of a core`);
    expect(command.count).toBeGreaterThanOrEqual(DEVICES);
  });
});

/** Again and again, each after the end of the one before it, and no more often than that. */
async function each(
  everyMs: number,
  { until, after }: { until: number; after: number },
  work: () => Promise<void>,
): Promise<void> {
  await pause(after);
  while (performance.now() < until) {
    const next = performance.now() + everyMs;
    await work();
    await pause(Math.max(0, next - performance.now()));
  }
}

async function echoed(socket: WebSocket): Promise<number> {
  const begun = performance.now();
  const answered = once(socket, 'message');
  socket.send('x'.repeat(ECHO_BYTES));
  await answered;
  return performance.now() - begun;
}
