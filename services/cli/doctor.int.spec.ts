import { chmod, cp, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import { startTestBus, type TestBus } from '#libs/testing';
import { runProgram } from './run-program.js';
import { FakeRegistry } from './testing/fake-registry.js';
import { fakeTerminal, surroundings } from './testing/fake-terminal.js';

/** A home whose bus and registry are there, and of which nothing else is. */
let bus: TestBus;
let registry: FakeRegistry;
let home: string;
const NOBODY = 'http://127.0.0.1:9';

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'orrery-doctor-'));
  bus = await startTestBus();
  registry = await FakeRegistry.start(await bus.as('registry'));
  registry.showTime(Date.now());
  await cp(dirname(bus.seedFile('admin')), join(home, 'keys'), { recursive: true });
  await chmod(join(home, 'keys'), 0o700);
  const { url: nats, monitorUrl: natsMonitor } = bus.server;
  const health = { orchestrator: NOBODY };
  const endpoints = { nats, natsMonitor, postgres: 'postgres://127.0.0.1:9/orrery', console: 'x', aip: 'x', health };
  await writeFile(join(home, 'endpoints.json'), JSON.stringify(endpoints));
});
afterAll(async () => {
  await registry.stop();
  await bus.stop();
  await rm(home, { recursive: true, force: true });
});

interface Page {
  readonly findings: readonly { readonly area: string; readonly state: string; readonly what: string }[];
  readonly repaired: readonly string[];
}

async function doctor(env: NodeJS.ProcessEnv, ...words: string[]): Promise<{ exitCode: number; page: Page }> {
  const terminal = fakeTerminal();
  const exitCode = await runProgram(['doctor', '--json', ...words], {
    ...surroundings(terminal, env),
    now: () => Date.now(),
  });
  return { exitCode, page: JSON.parse(terminal.outLines.join('')) as Page };
}
const areas = ({ findings }: Page, state: string): string[] =>
  findings.filter((one) => one.state === state).map(({ area }) => area);

describe('orrery doctor', () => {
  it('says what is well and what is not when half of the system is down', async () => {
    const { exitCode, page } = await doctor({ ORRERY_HOME: home });
    expect(exitCode).toBe(1);
    expect(areas(page, 'bad')).toEqual(['processes', 'services', 'postgres', 'people']);
    expect(areas(page, 'ok')).toEqual(
      expect.arrayContaining(['nats', 'streams', 'durables', 'clock', 'dlq', 'devices']),
    );
  });

  it('names what differs, is missing or can be read by others, and mends it when it is told to', async () => {
    const jsm = await jetstreamManager(await bus.as('admin'), { checkAPI: false });
    await jsm.consumers.delete('RUNS', 'planner-rounds');
    const { config } = await jsm.consumers.info('RUNS', 'device-agent-attempts');
    await jsm.consumers.update('RUNS', 'device-agent-attempts', { ...config, ack_wait: 30_000_000_000 });
    await jsm.streams.update('DLQ', { max_age: 3_600_000_000_000 });
    const seed = join(home, 'keys/cli.seed');
    await chmod(seed, 0o644);
    const before = await doctor({ ORRERY_HOME: home });
    const told = before.page.findings.map(({ what }) => what).join('\n');
    for (const words of [
      'RUNS/planner-rounds missing',
      'device-agent-attempts differs',
      'DLQ differs',
      `${seed} (644)`,
    ])
      expect(told).toContain(words);
    const { page } = await doctor({ ORRERY_HOME: home }, '--repair');
    expect(page.repaired.toSorted()).toEqual([
      `made ${seed} private`,
      'made RUNS/planner-rounds',
      'mended DLQ',
      'mended RUNS/device-agent-attempts',
    ]);
    expect((await stat(seed)).mode & 0o777).toBe(0o600);
    const after = await doctor({ ORRERY_HOME: home });
    expect(areas(after.page, 'bad')).toEqual(['processes', 'services', 'postgres', 'people']);
  });

  it('looks at a bus that runs elsewhere as far as the key that is given goes', async () => {
    const { url: ORRERY_NATS_URL, monitorUrl: ORRERY_NATS_MONITOR_URL } = bus.server;
    const place = { ORRERY_HOME: join(home, 'none'), ORRERY_NATS_URL, ORRERY_NATS_MONITOR_URL };
    const elsewhere = (user: string) => doctor({ ...place, ORRERY_NATS_SEED_FILE: bus.seedFile(user) });
    const { page: asAdmin } = await elsewhere('admin');
    expect(areas(asAdmin, 'ok')).toEqual(expect.arrayContaining(['nats', 'streams', 'durables', 'devices']));
    const { page: asCli } = await elsewhere('cli');
    expect(areas(asCli, 'warn')).toContain('streams');
    expect(areas(asCli, 'bad')).not.toContain('nats');
    expect(areas(asCli, 'ok')).toContain('devices');
  });

  it('says no secret', async () => {
    const { page } = await doctor({ ORRERY_HOME: home });
    const seeds = await Promise.all(['cli', 'admin'].map((user) => readFile(bus.seedFile(user), 'utf8')));
    for (const seed of seeds) expect(JSON.stringify(page)).not.toContain(seed.trim());
  });

  it('ends where there is nothing at all, and makes nothing there', async () => {
    const nothing = join(home, 'nothing');
    const { exitCode, page } = await doctor({ ORRERY_HOME: nothing }, '--repair');
    expect([exitCode, areas(page, 'bad')]).toEqual([1, ['processes', 'services', 'nats']]);
    await expect(stat(nothing)).rejects.toThrow('ENOENT');
  });

  it('reports what is no home, and no JSON, without failing', async () => {
    const odd = join(home, 'odd');
    await mkdir(odd);
    for (const name of ['endpoints.json', 'processes.json', 'supervisor.lock'])
      await writeFile(join(odd, name), '{"a":');
    await writeFile(join(odd, 'keys'), 'a file');
    expect((await doctor({ ORRERY_HOME: odd })).exitCode).toBe(1);
  });
});
