import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { getArtifact, putArtifact } from '#libs/messaging';
import { moment, ownPort } from '#libs/testing';
import {
  commandIdOf,
  type ArtifactRef,
  type CommandCall,
  type CommandOutcome,
  DeviceAnswer,
  type Json,
  type RunCommandRequest,
  subjects,
} from '#proto';
import { framesSeen, TestBench, type BenchGateway } from '../../services/aip-gateway/testing/test-bench.adapter.js';
import {
  makeHome,
  startDevice,
  type DeviceHome,
  type DeviceProcess,
} from '../../services/device-client/testing/device-process.js';
import { until } from '../../services/device-client/testing/until.js';

/* A real device process at a real gateway with a real store: what a command says, and what it leaves on the disk. */

const DEVICE = 'web-1';
let bench: TestBench;
let gate: BenchGateway;
let home: DeviceHome;
let device: DeviceProcess;
let tasks = 0;

// One device for all, as one serves many runs; each test begins with an empty jail.
beforeAll(async () => {
  bench = await TestBench.start();
  gate = await bench.gateway({ endpoint: { port: await ownPort() } });
  home = await makeHome();
  await writeFile(home.tokenFile, `token-${DEVICE}\n`, { mode: 0o600 });
  device = startDevice(home, gate.url);
  await bench.sessionOf(DEVICE);
});
afterAll(async () => {
  await device.kill('SIGKILL');
  await home.remove();
  await bench.clear();
  await bench.stop();
});
beforeEach(async () => {
  for (const name of await readdir(home.jailDir).catch(() => [])) await rm(join(home.jailDir, name));
});

interface Sent {
  readonly request: RunCommandRequest;
  /** Asked again and again as the device-agent does. */
  readonly outcome: Promise<CommandOutcome>;
}

async function send(tool: string, args: CommandCall['arguments']): Promise<Sent> {
  const presence = await until(async () => (await bench.presenceOf(DEVICE)) ?? undefined);
  const attempt = { runId: 'run-1', taskId: `t${tasks++}`, attempt: 1 };
  const request: RunCommandRequest = {
    kind: 'run',
    commandId: commandIdOf(attempt),
    attempt,
    deviceId: DEVICE,
    sessionId: presence.sessionId,
    journalId: presence.journalId,
    command: { tool, arguments: args },
    priority: 0,
    notAfter: '2099-01-01T00:00:00.000Z',
  };
  return { request, outcome: follow(request) };
}

async function follow(request: RunCommandRequest): Promise<CommandOutcome> {
  for (;;) {
    const answer: DeviceAnswer = await asked(request).catch(() => ({ state: 'queued' }));
    if (answer.state === 'finished') return answer.outcome;
    if (answer.state === 'refused') throw new Error(`${answer.code}: ${answer.message}`);
    await moment();
  }
}

/** A gateway that was killed answers nobody: who asks again hears of it soon. */
async function asked(request: RunCommandRequest): Promise<DeviceAnswer> {
  const body = JSON.stringify(request);
  const answer = await bench.caller.request(subjects.deviceCommand(DEVICE), body, { timeout: 2_000 });
  return DeviceAnswer.parse(answer.json());
}

const run = async (tool: string, args: CommandCall['arguments']): Promise<CommandOutcome> =>
  (await send(tool, args)).outcome;

let seed = 0;
function fresh(bytes: number): Buffer {
  const content = Buffer.alloc(bytes, createHash('sha512').update(`device-${++seed}`).digest());
  if (bytes >= 4) content.writeUInt32LE(seed);
  return content;
}
const refOf = (content: Uint8Array): ArtifactRef => ({
  sha256: createHash('sha256').update(content).digest('hex'),
  bytes: content.length,
});

async function inJail(name: string, content: Uint8Array): Promise<void> {
  await mkdir(home.jailDir, { recursive: true });
  await writeFile(join(home.jailDir, name), content);
}

/** Sends what moves a file, and comes back while it does. */
async function moving(type: string, sending: () => Promise<Sent>): Promise<Sent> {
  const before = await framesSeen(gate, type);
  const sent = await sending();
  await until(async () => ((await framesSeen(gate, type)) > before ? true : undefined));
  return sent;
}

/** The gateway goes away with all connections, and comes back at the same address. */
async function restartGateway(): Promise<void> {
  const port = Number(new URL(gate.url).port);
  await bench.kill(gate);
  gate = await bench.gateway({ endpoint: { port } });
}

describe('a device', () => {
  it('offers the tools for files with what they declare', async () => {
    const presence = await until(async () => (await bench.presenceOf(DEVICE)) ?? undefined);
    const tools = presence.telemetry.tools.map(({ name, readOnly }) => ({ name, readOnly }));
    expect(tools).toEqual([
      { name: 'EXEC_CLI', readOnly: false },
      { name: 'SYS_INFO', readOnly: true },
      { name: 'FILE_GET', readOnly: true },
      { name: 'FILE_PUT', readOnly: false },
    ]);
  });

  it('stores a file and writes it again', async () => {
    const content = fresh(3_000_000);
    await inJail('from', content);
    const got = await run('FILE_GET', { path: 'from' });
    expect(got).toMatchObject({ state: 'COMPLETED', result: { artifact: refOf(content), bytes: 3_000_000 } });
    const put = await run('FILE_PUT', { artifact: { ...refOf(content) }, path: 'to' });
    expect(put).toMatchObject({ state: 'COMPLETED', result: { artifact: refOf(content) } });
    expect((await readFile(join(home.jailDir, 'to'))).equals(content)).toBe(true);
  });

  it.each<[string, string, Record<string, Json>, string]>([
    ['FILE_GET', 'a path outside', { path: '/etc/hostname' }, 'is outside of the directories'],
    ['FILE_PUT', 'a path outside', { path: '../x', artifact: { sha256: '0'.repeat(64), bytes: 1 } }, 'is outside'],
    ['FILE_PUT', 'nothing that is stored', { path: 'x', artifact: { sha256: '0'.repeat(64), bytes: 1 } }, 'not stored'],
  ])('fails a %s of %s with one sentence', async (tool, _, args, why) => {
    const outcome = await run(tool, args);
    expect(outcome).toMatchObject({ state: 'FAILED', error: { code: 'TOOL_ERROR' } });
    expect(outcome.error?.message).toContain(why);
  });

  it('sends a file anew when the gateway goes away in the middle, and the command runs once', async () => {
    const content = fresh(20_000_000);
    await inJail('from', content);
    const { outcome } = await moving('file_chunk', () => send('FILE_GET', { path: 'from' }));
    await restartGateway();
    expect(await outcome).toMatchObject({ state: 'COMPLETED', result: { artifact: refOf(content) } });
    expect(Buffer.from(await getArtifact(bench.caller, refOf(content).sha256)).equals(content)).toBe(true);
  });

  it('writes a file after all when the gateway goes away in the middle', async () => {
    const content = fresh(20_000_000);
    const artifact = { ...(await putArtifact(bench.caller, content)) };
    const { outcome } = await moving('file_ack', () => send('FILE_PUT', { artifact, path: 'to' }));
    await restartGateway();
    expect(await outcome).toMatchObject({ state: 'COMPLETED', result: { replaced: false } });
    expect((await readFile(join(home.jailDir, 'to'))).equals(content)).toBe(true);
    expect(await readdir(home.jailDir)).toEqual(['to']);
  });

  it('gives a file up when its attempt is stopped, and nothing of it stays', async () => {
    const artifact = { ...(await putArtifact(bench.caller, fresh(20_000_000))) };
    const { request, outcome } = await moving('file_ack', () => send('FILE_PUT', { artifact, path: 'to' }));
    await bench.ask({ kind: 'stop', attempt: request.attempt, deviceId: DEVICE });
    expect(await outcome).toMatchObject({ state: 'CANCELLED', error: { code: 'ATTEMPT_STOPPED' } });
    expect(await readdir(home.jailDir)).toEqual([]);
  });
});

describe('an output that is longer than a result holds', () => {
  const LINES = 'awk \'BEGIN { for (n = 0; n < 400000; n++) printf "%07d\\n", n }\'';
  const lines = Buffer.from(Array.from({ length: 400_000 }, (_, n) => `${String(n).padStart(7, '0')}\n`).join(''));

  it('is stored whole, and the result names it', async () => {
    const outcome = await run('EXEC_CLI', { command: `${LINES}; ${LINES} | head -c 1200000 >&2; exit 2` });
    expect(outcome).toMatchObject({
      state: 'FAILED',
      error: { code: 'EXIT_CODE' },
      result: { exit_code: 2, stdout_artifact: refOf(lines), stderr_artifact: refOf(lines.subarray(0, 1_200_000)) },
    });
    expect(outcome.result).not.toHaveProperty('artifact_error');
    expect(Buffer.from(await getArtifact(bench.caller, refOf(lines).sha256)).equals(lines)).toBe(true);
    await until(async () => ((await readdir(join(home.dataDir, 'outputs'))).length === 0 ? true : undefined));
  });

  it('is not stored when it is short', async () => {
    const { result } = await run('EXEC_CLI', { command: 'echo short' });
    expect(Object.keys(result ?? {}).filter((key) => key.includes('artifact'))).toEqual([]);
  });

  it('goes without, and says so, when the store does not answer', async () => {
    const { outcome } = await send('EXEC_CLI', { command: `${LINES}; while [ ! -e go ]; do sleep 0.05; done` });
    await until(async () => ((await readdir(join(home.dataDir, 'outputs'))).length === 1 ? true : undefined));
    // The gateway's own connection to the bus: the device's stays.
    const jsm = await (await import('@nats-io/jetstream')).jetstreamManager(bench.caller);
    await jsm.streams.delete('OBJ_ARTIFACTS');
    await inJail('go', Buffer.alloc(0));
    const { state, result } = await outcome;
    expect(state).toBe('COMPLETED');
    expect(result).toMatchObject({ stdout_bytes: 3_200_000, artifact_error: expect.stringMatching(/^stdout: /u) });
    expect(result).not.toHaveProperty('stdout_artifact');
  });
});
