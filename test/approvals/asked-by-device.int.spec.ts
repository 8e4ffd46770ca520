import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { openBashGrammar, openPolicy } from '#libs/command-policy';
import type { AgentProfile, Ask, CommandWall } from '#proto';
import { type BenchGateway, TestBench } from '../../services/aip-gateway/testing/test-bench.adapter.js';
import { messageOf } from '../../services/device-agent/testing/agent.js';
import { AgentWorld } from '../../services/device-agent/testing/agent-world.js';
import { profileOf } from '../../services/device-agent/testing/profile.js';
import {
  type DeviceHome,
  type DeviceProcess,
  makeHome,
  startDevice,
} from '../../services/device-client/testing/device-process.js';
import { until } from '../../services/device-client/testing/until.js';

/* A real device process behind a real wall at a real gateway: what it wants a person to be asked about is asked about, and then runs. */

const DEVICE = 'web-1';
const LATER = '2099-01-01T00:00:00.000Z';
let bench: TestBench;
let gate: BenchGateway;
let home: DeviceHome;
let device: DeviceProcess;
/** Where a wall shows what is there: below /tmp and /dev it does not. */
let places: string;

beforeAll(async () => {
  bench = await TestBench.start();
});
beforeEach(async () => {
  gate = await bench.gateway();
  home = await makeHome();
  await chmod(home.dir, 0o755);
  await writeFile(home.tokenFile, `token-${DEVICE}\n`, { mode: 0o600 });
  await mkdir(home.jailDir, { recursive: true });
  await symlink('/etc/shadow', join(home.jailDir, 'way'));
  places = await mkdtemp('/var/tmp/orrery-places-');
  await chmod(places, 0o755);
  for (const place of ['open', 'shut']) {
    await mkdir(join(places, place));
    await chmod(join(places, place), 0o777);
  }
  device = startDevice(home, gate.url, ['--jail', home.jailDir, '--sandbox', 'util-linux']);
});
afterEach(async () => {
  await device.kill('SIGKILL');
  await bench.clear();
  await home.remove();
  await rm(places, { recursive: true, force: true });
});
afterAll(() => bench.stop());

/** The exact command of a task that is judged by the built-in policy, up to what a person is asked. */
async function asked(command: string) {
  const { sessionId, journalId, telemetry } = await until(async () => (await bench.presenceOf(DEVICE)) ?? undefined);
  const start = { judge: true as const, sessionId, journalId, timeoutAt: LATER };
  const world = new AgentWorld([], { agent: false, arguments: { command }, start });
  world.device.ask = (request) => bench.ask(request).catch(() => ({ state: 'away' as const }));
  world.device.tell = (request) => void bench.ask(request).catch(() => undefined);
  const agent = world.agent({ policy: openPolicy({}, await openBashGrammar()) });
  const { wall: kind, wallViews: views, wallUser: runsAs } = telemetry.metadata;
  agent.profile = profileOf({ wall: { kind, views, runsAs } as AgentProfile['wall'], tools: [] });
  await world.world.record(world.run);
  const handled = agent.starts.handle(messageOf(world.commit));
  const ask = await world.asked();
  if (ask.kind !== 'approval') throw new Error('a question');
  return {
    world,
    ask,
    approve: async (wall?: CommandWall) => {
      world.run.ask(ask satisfies Ask);
      const decided = world.run.decide({ approvalId: ask.approvalId, decision: 'approved', ...(wall && { wall }) });
      await world.world.record(world.run);
      await agent.control.handle(messageOf(decided));
      await handled;
      return world.end();
    },
  };
}

it('a link that leads to a secret is asked about with the words of the device, and the command runs once it is approved', async () => {
  const { world, ask, approve } = await asked('head -c 4 ./way');
  expect(ask).toMatchObject({ rule: 'device', class: 'read', wall: { kind: 'none' } });
  expect(ask.reasons[0]).toContain('/etc/shadow may hold secrets');
  expect(await world.facts('COMMAND_FINISHED')).toEqual([]);
  const isRoot = process.getuid?.() === 0;
  expect(await approve()).toMatchObject(
    isRoot ? { status: 'completed', used: { commands: 1 } } : { used: { commands: 1 } },
  );
  expect(await world.facts('COMMAND_ISSUED')).toHaveLength(2);
});

it('what is approved as it is shown is held to that by the kernel, and what a person opens is open', async () => {
  const line = `touch ${places}/open/new && rm ${places}/open/new && touch ${places}/open/x ${places}/shut/x`;
  const { ask, approve } = await asked(line);
  expect(ask.wall).toMatchObject({ kind: 'write', writable: [`${places}/open`, `${places}/shut`] });
  expect(await approve({ kind: 'write', views: [], writable: [`${places}/open`] })).toMatchObject({
    error: { code: 'POLICY_MISMATCH' },
  });
  expect(await readFile(`${places}/open/x`, 'utf8')).toBe('');
  await expect(readFile(`${places}/shut/x`)).rejects.toThrow('ENOENT');
});
