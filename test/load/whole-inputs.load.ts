import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { writeRequest } from '../e2e/requests.js';
import { TestSystem } from '../e2e/system.js';
import { say, scaled } from './load-system.js';

/* The standard output of one machine as the standard input of another, as large as it may be. */

const BYTES = scaled(1024 * 1024 * 1024, 64 * 1024 * 1024);
const PARTS = ['nats', 'orchestrator', 'device-agent', 'aip-gateway', 'web-1', 'db-1'];
/** What a process may take more than before; what it holds of a file is a window of a mebibyte. */
const GROWTH_MIB_MAX = 128;
const SAMPLE_MS = 500;
const MIB = 1024 * 1024;

let system: TestSystem;
beforeAll(async () => {
  system = await TestSystem.start('--devices', '2');
});
afterAll(() => system.stop());

const exec = (id: string, device: string, args: Record<string, unknown>) => ({
  id,
  name: id,
  target: { device },
  timeoutMs: 1_200_000,
  command: { tool: 'EXEC_CLI', arguments: { timeout: 1_200, ...args } },
});

async function runPlan(requestId: string, bytes: number) {
  const tasks = [
    exec('from', 'web-1', { command: `head -c ${bytes} /dev/urandom > f; sha256sum < f >&2; cat f; rm f` }),
    exec('to', 'db-1', { command: 'sha256sum', stdin: { from: ['from'] } }),
  ];
  const lines = [{ id: 'l', from: 'from', to: 'to', type: 'success-only' }];
  const file = await writeRequest(system.home, { requestId, constellation: { name: requestId, tasks, lines } });
  const { runId } = await system.json<{ runId: string }>('submit', '-f', file);
  return runId;
}

/** Processes by name: those that the system starts, and of a device also the one of its tools. */
async function processes(): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const part of PARTS) found.set(part, await system.pidOf(part));
  for (const entry of await readdir('/proc')) {
    const pid = Number(entry);
    if (!Number.isInteger(pid)) continue;
    const [cmdline, status] = await Promise.all(
      ['cmdline', 'status'].map((name) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')),
    );
    const parent = Number(/^PPid:\s+(\d+)$/mu.exec(status ?? '')?.[1] ?? 0);
    const device = [...found].find(([, of]) => of === parent)?.[0];
    if (device !== undefined && cmdline?.includes('device-mcp')) found.set(`${device} tools`, pid);
  }
  return found;
}

async function rssOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return (Number(/^VmRSS:\s+(\d+) kB$/mu.exec(status)?.[1] ?? 0) * 1024) / MIB;
}

it(`${BYTES / MIB} MiB of standard input arrive as they were, and no process holds them`, async () => {
  // Everything that is loaded at the first file is loaded before memory is looked at.
  await system.untilEnd(await runPlan('warm', 8 * MIB));
  const watched = await processes();
  const before = new Map(await Promise.all([...watched].map(async ([name, pid]) => [name, await rssOf(pid)] as const)));
  const samples: Record<string, number>[] = [];
  const begun = performance.now();
  const runId = await runPlan('whole', BYTES);
  for (let view = await system.show(runId); ; view = await system.show(runId)) {
    const now = await Promise.all([...watched].map(async ([name, pid]) => [name, await rssOf(pid)] as const));
    samples.push(Object.fromEntries([['s', (performance.now() - begun) / 1_000], ...now]));
    if (view.endedAt === null) {
      await sleep(SAMPLE_MS);
      continue;
    }
    const [from, to] = view.tasks;
    expect(view.outcome).toBe('succeeded');
    const sum = (task: typeof from, stream: 'stdout' | 'stderr'): unknown =>
      (task?.result?.value as Record<string, unknown> | undefined)?.[stream];
    expect(sum(to, 'stdout')).toBe(sum(from, 'stderr'));
    const seconds = (task: typeof from): string =>
      ((Date.parse(task?.endedAt ?? '') - Date.parse(task?.startedAt ?? '')) / 1_000).toFixed(1);
    say(
      `${BYTES / MIB} MiB of stdin`,
      `printed and stored in ${seconds(from)} s, delivered and read in ${seconds(to)} s`,
    );
    break;
  }
  say('  resident MiB', 'before, highest, at the end; and every tenth of the time');
  for (const [name, first] of before) {
    const course = samples.map((sample) => sample[name] ?? 0);
    const tenths = Array.from({ length: 10 }, (_, n) => course[Math.floor((n * course.length) / 10)]?.toFixed(0)).join(
      ' ',
    );
    const most = Math.max(...course);
    say(`  ${name}`, `${first.toFixed(0)}, ${most.toFixed(0)}, ${course.at(-1)?.toFixed(0)}; ${tenths}`);
    // nats-server has its files mapped, and its caches are its own business.
    if (name !== 'nats') expect(most - first).toBeLessThan(GROWTH_MIB_MAX);
  }
  expect(await readdir(join(system.home, 'devices', 'db-1', 'inputs'))).toEqual([]);
});
