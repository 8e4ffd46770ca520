import { createHash } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AgentProfile, ArtifactRef, RunView, TaskConstellation } from '#proto';
import { DeviceProcess } from './aip-faults-process.js';
import { testsOfAttention } from './attention.js';
import { prepareForClients, testsOfConstellationClients } from './constellation.js';
import { testsOfOutput } from './outputs.js';
import { writeRequest } from './requests.js';
import { TestSystem, until } from './system.js';
import { testsOfWholeInputs } from './whole-inputs.js';

/* A file from one machine to another through the whole system, and an output that no event could hold: read while it is written, and by the next task. */

const MIB = 1024 * 1024;
const FILE_BYTES = 100_000_000;
let system: TestSystem;
beforeAll(async () => {
  system = await TestSystem.startWith({ prepare: prepareForClients }, '--devices', '2');
});
afterAll(() => system.stop());

const jailOf = (device: string): string => join(system.home, 'devices', device, 'jail');

/** A content that does not compress and is the same in every run. */
function content(bytes: number): Buffer {
  const made = Buffer.alloc(bytes);
  let block = createHash('sha512').update('files.e2e').digest();
  for (let at = 0; at < bytes; at += 4_096) {
    block = createHash('sha512').update(block).digest();
    made.fill(block, at, Math.min(bytes, at + 4_096));
  }
  return made;
}

async function runTask(requestId: string, task: TaskConstellation['tasks'][number]): Promise<RunView['tasks'][number]> {
  const constellation = { name: requestId, tasks: [task], lines: [] };
  const file = await writeRequest(system.home, { requestId, constellation });
  const { runId } = await system.json<{ runId: string }>('submit', '-f', file);
  const view = await system.untilEnd(runId);
  const [ended] = view.tasks;
  if (ended === undefined) throw new Error(`${requestId} has no task`);
  return ended;
}

const task = (device: string, tool: string, args: Record<string, unknown>) =>
  ({
    id: 'only',
    name: 'Only',
    description: 'only',
    target: { device },
    command: { tool, arguments: args },
  }) as TaskConstellation['tasks'][number];

/** Resident memory of a process and its highest so far, in bytes. */
async function memoryOf(pid: number): Promise<{ now: number; most: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const kib = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'mu').exec(status)?.[1] ?? 0);
  return { now: kib('VmRSS') * 1024, most: kib('VmHWM') * 1024 };
}

/** Less than the file: who holds it has all of it. What a piece has passed through is garbage of a few MiB. */
const GARBAGE_MIB_MAX = 64;

/** From here on the highest memory is counted anew. */
const forgetMost = (pid: number): Promise<void> => writeFile(`/proc/${pid}/clear_refs`, '5');

async function watchMemory(parts: readonly string[]): Promise<() => Promise<Record<string, number>>> {
  const before = await Promise.all(
    parts.map(async (part) => {
      const pid = await system.pidOf(part);
      await forgetMost(pid);
      return { part, pid, bytes: (await memoryOf(pid)).now };
    }),
  );
  return async () =>
    Object.fromEntries(
      await Promise.all(
        before.map(async ({ part, pid, bytes }) => [part, ((await memoryOf(pid)).most - bytes) / MIB] as const),
      ),
    );
}

// It counts what needs somebody, which is nothing so far: before the others.
describe('a morning at the inbox', () => testsOfAttention(() => system));

// It ends its gateway: before anybody measures that one's memory.
describe('a client of another system that sends tasks', () => testsOfConstellationClients(() => system));

it('a file of 100 MB goes from one machine to another, identical, and neither end holds it in memory', async () => {
  const whole = content(FILE_BYTES);
  const artifact: ArtifactRef = { sha256: createHash('sha256').update(whole).digest('hex'), bytes: FILE_BYTES };
  await writeFile(join(jailOf('web-1'), 'from.bin'), whole);
  // Everything that is loaded at the first file is loaded before memory is measured.
  await runTask('files-warm', task('web-1', 'FILE_GET', { path: '.' }));
  const added = await watchMemory(['aip-gateway', 'web-1', 'db-1']);

  const startedMs = performance.now();
  const got = await runTask('files-get', task('web-1', 'FILE_GET', { path: 'from.bin' }));
  expect(got).toMatchObject({ status: 'COMPLETED', result: { value: { artifact, bytes: FILE_BYTES } } });
  const storedMs = performance.now();
  const put = await runTask('files-put', task('db-1', 'FILE_PUT', { artifact, path: 'in/to.bin', mode: '640' }));
  expect(put).toMatchObject({ status: 'COMPLETED', result: { value: { artifact, mode: '640', replaced: false } } });
  const writtenMs = performance.now();

  const to = join(jailOf('db-1'), 'in', 'to.bin');
  expect((await readFile(to)).equals(whole)).toBe(true);
  expect((await stat(to)).mode & 0o777).toBe(0o640);
  const mebibytes = await added();
  const perSecond = (ms: number): number => Math.round(FILE_BYTES / 1e6 / (ms / 1_000));
  process.stderr.write(
    `100 MB up in ${Math.round(storedMs - startedMs)} ms (${perSecond(storedMs - startedMs)} MB/s), down in ` +
      `${Math.round(writtenMs - storedMs)} ms (${perSecond(writtenMs - storedMs)} MB/s); MiB more: ${JSON.stringify(mebibytes)}\n`,
  );
  for (const more of Object.values(mebibytes)) expect(more).toBeLessThan(GARBAGE_MIB_MAX);

  const file = join(system.home, 'fetched.bin');
  expect(await system.cli('artifacts', 'get', artifact.sha256, '-o', file)).toMatchObject({ code: 0 });
  expect((await readFile(file)).equals(whole)).toBe(true);
});

it('an output of 3 MB is stored whole, named in the result, and fetched by that name', async () => {
  const command = 'awk \'BEGIN { for (n = 0; n < 400000; n++) printf "%07d\\n", n }\'';
  const { result } = await runTask('files-output', task('web-1', 'EXEC_CLI', { command }));
  const value = result?.value as { stdout_artifact?: ArtifactRef; stdout_bytes?: number };
  expect(value).toMatchObject({ stdout_bytes: 3_200_000, stdout_artifact: { bytes: 3_200_000 } });
  const { stdout } = await system.cli('artifacts', 'get', value.stdout_artifact?.sha256 ?? '');
  expect(stdout).toHaveLength(3_200_000);
  expect(stdout.slice(8 * 123_456, 8 * 123_457)).toBe('0123456\n');
});

it('what nobody may have is refused, and says so in the run', async () => {
  const secret = await runTask('files-secret', task('web-1', 'FILE_GET', { path: '/etc/hostname' }));
  expect(secret).toMatchObject({ status: 'FAILED', error: { code: 'TOOL_ERROR' } });
  expect(secret.error?.message).toContain('is outside of the directories');
  const missing = { sha256: '0'.repeat(64), bytes: 1 };
  const nothing = await runTask('files-nothing', task('db-1', 'FILE_PUT', { artifact: missing, path: 'x' }));
  expect(nothing).toMatchObject({ status: 'FAILED', error: { message: expect.stringContaining('is not stored') } });
});

it('a file that is on its way when the gateway is killed arrives all the same', async () => {
  const whole = content(60_000_000);
  const artifact = { sha256: createHash('sha256').update(whole).digest('hex'), bytes: whole.length };
  await writeFile(join(jailOf('db-1'), 'again.bin'), whole);
  const seen = async (): Promise<number> => {
    const metrics = await metricsOfGateway();
    return Number(/^orrery_aip_frames_total\{.*type="file_chunk".*\} (\d+)$/mu.exec(metrics)?.[1] ?? 0);
  };
  const before = await seen();
  const ended = runTask('files-killed', task('db-1', 'FILE_GET', { path: 'again.bin' }));
  await until('pieces of the file at the gateway', async () => ((await seen()) > before + 20 ? true : undefined));
  await system.kill9('aip-gateway');
  expect(await ended).toMatchObject({ status: 'COMPLETED', attempts: 1, result: { value: { artifact } } });
});

/** What the gateway counts. One that was killed a moment ago is waited for. */
async function metricsOfGateway(): Promise<string> {
  const { health } = await system.endpoints();
  return until('the metrics of the gateway', async () =>
    fetch(`${health['aip-gateway']}/metrics`).then(
      (response) => response.text(),
      () => undefined,
    ),
  );
}

/** Pieces of files that the gateway has seen, either way. */
async function pieces(): Promise<number> {
  const metrics = await metricsOfGateway();
  return [...metrics.matchAll(/^orrery_aip_frames_total\{.*type="file_chunk".*\} (\d+)$/gmu)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
}

const shell = (id: string, device: string, command: string, files: Record<string, unknown>) => ({
  id,
  name: id,
  description: id,
  target: { device },
  command: { tool: 'EXEC_CLI', arguments: { command } },
  files,
});

it('a file goes along a line though device agent, gateway, sender and receiver are killed on its way, and its workspaces end with the run', async () => {
  const bytes = 60_000_000;
  const tasks = [
    shell('make', 'web-1', `head -c ${bytes} /dev/urandom > large.bin; sha256sum < large.bin`, { out: ['large.bin'] }),
    shell('check', 'db-1', 'sha256sum < in/large.bin', { in: [{ from: 'make', to: 'in/' }] }),
  ];
  const lines = [{ id: 'l', from: 'make', to: 'check', type: 'success-only' }];
  const request = await writeRequest(system.home, {
    requestId: 'files-along-a-line',
    constellation: { name: 'along', tasks, lines },
    options: { keepWorkspace: true },
  });
  const before = await pieces();
  const { runId } = await system.json<{ runId: string }>('submit', '-f', request);
  await until('pieces on their way to the store', async () => ((await pieces()) > before + 20 ? true : undefined));
  await system.kill9('device-agent');
  await system.kill9('web-1');
  const stored = await until('the file in the log', async () => {
    const {
      tasks: [make],
    } = await system.show(runId);
    return make?.result?.files?.[0];
  });
  const up = await pieces();
  await until('pieces on their way to the device', async () =>
    (await pieces()) > up + 20 || (await system.show(runId)).endedAt !== null ? true : undefined,
  );
  for (const part of ['device-agent', 'aip-gateway', 'db-1']) await system.kill9(part);

  const ended = await system.untilEnd(runId);
  expect(ended.tasks).toMatchObject([
    { status: 'COMPLETED', attempts: 1 },
    { status: 'COMPLETED', attempts: 1 },
  ]);
  const said = ended.tasks.map(({ result }) => (result?.value as { stdout: string } | undefined)?.stdout);
  expect(said[1]).toBe(said[0]);
  // The log has its name, kind, size and hash, and nothing of what is in it: in any writing it would be longer than this.
  const named = { path: 'large.bin', name: 'large.bin', mode: '644', mediaType: 'application/octet-stream' };
  expect(stored).toEqual({ ...named, artifact: { bytes, sha256: said[0]?.slice(0, 64) } });
  expect((await system.cli('export', runId)).stdout.length).toBeLessThan(bytes / 100);

  // Kept, as the request said, until somebody removes it.
  const listed = async (device: string) =>
    (await system.json<{ workspaces?: { runId: string; kept: boolean }[] }>('devices', 'workspaces', device))
      .workspaces;
  const kept = await until('the end of the run on its device', async () =>
    (await listed('db-1'))?.find((one) => one.runId === runId && one.kept),
  );
  expect(kept).toMatchObject({ files: 1 });
  const { console: url } = await system.endpoints();
  const headers = { authorization: `Bearer ${system.token}` };
  const path = `${url}/v1/devices/db-1/workspaces`;
  const told = await until('the same over HTTP', async () => {
    const answer = await fetch(path, { headers });
    return answer.ok ? answer.json() : undefined;
  });
  expect(told).toMatchObject({ workspaces: [{ runId, kept: true }] });
  // A device that is on its way back, or busy, is told again.
  const discard = `${url}/v1/runs/${runId}/workspaces/db-1/discard`;
  const method = 'POST';
  await until('the word about db-1', async () => (await fetch(discard, { method, headers })).ok || undefined);
  await until('the word about web-1', async () => {
    const { code } = await system.cli('discard', runId, 'web-1');
    return code === 0 || undefined;
  });
  for (const device of ['web-1', 'db-1'])
    await until(`no workspace on ${device}`, async () => ((await listed(device))?.length === 0 ? true : undefined));
});

it('an image that a tool server of a device answers with is a file of its task, for the terminal and over HTTP', async () => {
  const { aip, console: url } = await system.endpoints();
  const media = resolve(import.meta.dirname, '../../libs/mcp/testing/media-server.ts');
  const tools = new DeviceProcess({
    system,
    nc: await system.bus(),
    id: 'tools-1',
    urls: [aip],
    admin: { tags: [], capabilities: [] },
    config: { mcpServers: { media: { command: process.execPath, args: [media] } } },
  });
  await tools.enrol();
  try {
    // On a slow machine its tool server is there only after the device.
    await until('the tools of the device', async () => {
      const { devices } = await system.json<{ devices: AgentProfile[] }>('devices');
      const { tools: known = [] } = devices.find(({ deviceId }) => deviceId === 'tools-1') ?? {};
      return known.some(({ name }) => name === 'look') || undefined;
    });
    const constellation = { name: 'look', tasks: [task('tools-1', 'look', {})], lines: [] };
    const request = await writeRequest(system.home, { requestId: 'files-look', constellation });
    const { runId } = await system.json<{ runId: string }>('submit', '-f', request);
    const [ended] = (await system.untilEnd(runId)).tasks;
    expect(ended).toMatchObject({
      status: 'COMPLETED',
      result: { value: expect.stringContaining('[file image-1.png]') },
    });
    expect(ended?.result?.files?.map(({ name }) => name)).toEqual([
      'image-1.png',
      'audio-1.wav',
      'errors of today.log',
      'notes.md',
      'passwd',
    ]);
    expect(JSON.stringify(ended)).not.toContain(Buffer.from('a screen of 1 pixel').toString('base64'));

    const file = join(system.home, 'screen.png');
    const got = await system.cli('output', runId, 'only', '--artifact', 'image-1.png', '-o', file);
    expect(got).toMatchObject({ code: 0, stdout: expect.stringContaining('19 bytes written') });
    expect(await readFile(file, 'utf8')).toBe('a screen of 1 pixel');
    const { stderr } = await system.cli('output', runId, '--artifact', 'image-2.png', '-o', `${file}2`);
    expect(stderr).toContain('No file "image-2.png" is recorded; there is "image-1.png", "audio-1.wav"');
    const refused = await system.cli('output', runId, '--artifact', 'passwd', '-o', `${file}2`);
    expect(refused.stderr).toContain(
      'The file "passwd" has no content: not kept: "file:///etc/passwd" could not be read',
    );
    const shown = await system.cli('output', runId, '--recorded');
    expect(shown.stdout + shown.stderr).toContain('file image-1.png: image/png, 19 bytes, SHA-256');

    const headers = { authorization: `Bearer ${system.token}` };
    const response = await fetch(`${url}/v1/runs/${runId}/output?artifact=notes.md`, { headers });
    expect(await response.text()).toBe('# Today\n');
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': "attachment; filename*=UTF-8''notes.md",
      'x-content-type-options': 'nosniff',
    });
    const missing = await fetch(`${url}/v1/runs/${runId}/output?artifact=passwd`, { headers });
    expect(missing.status).toBe(404);
  } finally {
    await tools.kill9();
  }
});

describe('an output', () => testsOfOutput(() => system));
describe('an input', () => testsOfWholeInputs(() => system));
