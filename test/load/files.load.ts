import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, readdir, readFile, rm } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { RunView } from '#proto';
import { writeRequest } from '../e2e/requests.js';
import { TestSystem } from '../e2e/system.js';
import { say, scaled } from './load-system.js';

/* Files along lines: one as large as it may be, and ten beside each other. */

const MIB = 1024 * 1024;
const BYTES = scaled(1024 * MIB, 64 * MIB);
const BESIDE = 10;
const BESIDE_BYTES = scaled(100 * MIB, 8 * MIB);
const PARTS = ['nats', 'orchestrator', 'device-agent', 'aip-gateway', 'logging', 'web-1', 'db-1'];
/** What a process may take more than before. */
const GROWTH_MIB_MAX = 128;
const SAMPLE_MS = 500;

let system: TestSystem;
beforeAll(async () => {
  system = await TestSystem.start('--devices', '2');
});
afterAll(() => system.stop());

const shell = (id: string, device: string, command: string, files: object) => ({
  id,
  name: id,
  target: { device },
  timeoutMs: 1_800_000,
  files,
  command: { tool: 'EXEC_CLI', arguments: { command, timeout: 1_800 } },
});

/** Whole runs, each with files of its own; they begin together. */
async function submit(name: string, bytes: number, files: number): Promise<string> {
  const tasks = Array.from({ length: files }, (_, n) => [
    shell(`make${n}`, 'web-1', `head -c ${bytes} /dev/urandom > f${n}; sha256sum < f${n}`, { out: [`f${n}`] }),
    shell(`take${n}`, 'db-1', `sha256sum < f${n}`, { in: [`make${n}`] }),
  ]).flat();
  const lines = Array.from({ length: files }, (_, n) => ({
    id: `l${n}`,
    from: `make${n}`,
    to: `take${n}`,
    type: 'success-only',
  }));
  const request = await writeRequest(system.home, { requestId: name, constellation: { name, tasks, lines } });
  return (await system.json<{ runId: string }>('submit', '-f', request)).runId;
}

interface Sample {
  readonly s: number;
  readonly mib: Readonly<Record<string, number>>;
}

/** Follows a run to its end; memory of every process meanwhile. */
async function follow(runId: string): Promise<{ view: RunView; samples: Sample[] }> {
  const samples: Sample[] = [];
  const begun = performance.now();
  for (let view = await system.show(runId); ; view = await system.show(runId)) {
    samples.push({ s: (performance.now() - begun) / 1_000, mib: await memory() });
    if (view.endedAt !== null) return { view, samples };
    await sleep(SAMPLE_MS);
  }
}

async function memory(): Promise<Record<string, number>> {
  const found = PARTS.map(async (part) => {
    const status = await readFile(`/proc/${await system.pidOf(part)}/status`, 'utf8');
    return [part, (Number(/^VmRSS:\s+(\d+) kB$/mu.exec(status)?.[1] ?? 0) * 1024) / MIB] as const;
  });
  return Object.fromEntries(await Promise.all(found));
}

/** Processor time of each process so far. */
async function processorMs(): Promise<Record<string, number>> {
  const found = PARTS.map(async (part) => {
    const stat = await readFile(`/proc/${await system.pidOf(part)}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return [part, (Number(fields[USER_TICKS]) + Number(fields[USER_TICKS + 1])) * MS_PER_TICK] as const;
  });
  return Object.fromEntries(await Promise.all(found));
}
/** Place of `utime` in /proc/<pid>/stat behind the name; `stime` follows. Linux counts a hundred ticks a second for everybody. */
const USER_TICKS = 11;
const MS_PER_TICK = 10;

/** How long what moved a file took, on the device: `WORKSPACE_OUT` or `WORKSPACE_IN`, without the command beside it. */
async function moveMs(runId: string, tool: string): Promise<number[]> {
  const { stdout } = await system.cli('export', runId);
  const events = stdout
    .trim()
    .split('\n')
    .flatMap((line) => (JSON.parse(line) as { commit?: { events: Recorded[] } }).commit?.events ?? []);
  const ids = new Set(
    events
      .filter(({ type, data }) => type === 'COMMAND_ISSUED' && data.command?.tool === tool)
      .map(({ data }) => data.commandId),
  );
  return events.flatMap(({ type, data }) =>
    type === 'COMMAND_FINISHED' && ids.has(data.commandId) ? [data.durationMs ?? 0] : [],
  );
}
interface Recorded {
  readonly type: string;
  readonly data: {
    readonly commandId?: string;
    readonly command?: { tool: string };
    readonly durationMs?: number | null;
  };
}

/** Nobody who moves a file unseen can do without it: both ends say what it is. */
async function* hashed(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  for await (const piece of pieces) {
    hash.update(piece);
    yield piece;
  }
  hash.digest();
}

/** From one file over a bare socket into another, to the disk: what the machine can do. `isHashed`: at both ends. */
async function plainCopyMs(bytes: number, isHashed: boolean): Promise<number> {
  const [from, to] = [join(system.home, 'plain-from'), join(system.home, 'plain-to')];
  const filled = await open(from, 'w');
  const block = Buffer.alloc(MIB, 'plain copy');
  for (let at = 0; at < bytes; at += MIB) await filled.write(block, 0, Math.min(MIB, bytes - at));
  await filled.sync();
  await filled.close();
  const { promise: written, resolve, reject } = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    const sink = createWriteStream(to, { flush: true });
    (isHashed ? pipeline(socket, hashed, sink) : pipeline(socket, sink)).then(resolve, reject);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const begun = performance.now();
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  await (isHashed ? pipeline(createReadStream(from), hashed, socket) : pipeline(createReadStream(from), socket));
  await written;
  const took = performance.now() - begun;
  server.close();
  await Promise.all([rm(from), rm(to)]);
  return took;
}

const rate = (bytes: number, ms: number): string => `${(bytes / MIB / (ms / 1_000)).toFixed(0)} MiB/s`;

function mustBeWhole({ tasks, outcome }: RunView): void {
  expect(outcome).toBe('succeeded');
  const said = new Map(tasks.map(({ id, result }) => [id, (result?.value as { stdout: string } | undefined)?.stdout]));
  for (const [id, sum] of said) if (id.startsWith('take')) expect(sum).toBe(said.get(id.replace('take', 'make')));
}

function mustBeFlat(before: Readonly<Record<string, number>>, samples: readonly Sample[]): void {
  say('  resident MiB', 'before, highest; and at every tenth of the time');
  for (const [name, first = 0] of Object.entries(before)) {
    const course = samples.map(({ mib }) => mib[name] ?? 0);
    const tenths = Array.from({ length: 10 }, (_, n) => course[Math.floor((n * course.length) / 10)]?.toFixed(0));
    const most = Math.max(...course);
    say(`  ${name}`, `${first.toFixed(0)}, ${most.toFixed(0)}; ${tenths.join(' ')}`);
    // nats-server has its files mapped, and its caches are its own business.
    if (name !== 'nats') expect(most - first).toBeLessThan(GROWTH_MIB_MAX);
  }
}

it(`one file of ${BYTES / MIB} MiB goes along a line, and no process holds it`, async () => {
  // Everything that is loaded at the first file is loaded before memory is looked at.
  await follow(await submit('warm', 8 * MIB, 1));
  const plain = [
    ['plain copy over a socket', await plainCopyMs(BYTES, false)],
    ['the same, hashed at both ends', await plainCopyMs(BYTES, true)],
  ] as const;
  const before = await memory();
  const spentBefore = await processorMs();
  const runId = await submit('one', BYTES, 1);
  const { view, samples } = await follow(runId);
  const spent = Object.entries(await processorMs()).map(
    ([name, ms]) => `${name} ${((ms - (spentBefore[name] ?? 0)) / (BYTES / MIB)).toFixed(1)}`,
  );
  mustBeWhole(view);
  const [[out = 0], [into = 0]] = [await moveMs(runId, 'WORKSPACE_OUT'), await moveMs(runId, 'WORKSPACE_IN')];
  say(`${BYTES / MIB} MiB along a line`, `hashed and stored ${rate(BYTES, out)}, fetched ${rate(BYTES, into)}`);
  for (const [name, ms] of plain)
    say(`  ${name}`, `${rate(BYTES, ms)}: ratio ${(ms / out).toFixed(2)} and ${(ms / into).toFixed(2)}`);
  say('  processor ms for each MiB', spent.join(', '));
  mustBeFlat(before, samples);
  for (const device of ['web-1', 'db-1'])
    expect(await readdir(join(system.home, 'devices', device, 'workspaces', '.parts'))).toEqual([]);
});

it(`${BESIDE} files of ${BESIDE_BYTES / MIB} MiB go beside each other`, async () => {
  const before = await memory();
  const runId = await submit('beside', BESIDE_BYTES, BESIDE);
  const { view, samples } = await follow(runId);
  mustBeWhole(view);
  const took = samples.at(-1)?.s ?? 0;
  say(`${BESIDE} x ${BESIDE_BYTES / MIB} MiB beside each other`, `${took.toFixed(1)} s from the request to its end`);
  for (const tool of ['WORKSPACE_OUT', 'WORKSPACE_IN'])
    say(`  ${tool}`, (await moveMs(runId, tool)).map((ms) => `${(ms / 1_000).toFixed(1)} s`).join(' '));
  mustBeFlat(before, samples);
});
