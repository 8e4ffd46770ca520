import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { moment, mountSmallDisk, ownPort } from '#libs/testing';
import {
  commandIdOf,
  workspaceCommandIdOf,
  type CommandCall,
  type CommandOutcome,
  DeviceAnswer,
  subjects,
  type Json,
  type RunCommandRequest,
  type WorkspaceFile,
} from '#proto';
import { framesSeen, TestBench, type BenchGateway } from '../../services/aip-gateway/testing/test-bench.adapter.js';
import {
  makeHome,
  startDevice,
  type DeviceHome,
  type DeviceProcess,
} from '../../services/device-client/testing/device-process.js';
import { until } from '../../services/device-client/testing/until.js';

/* Files from one device to another, as the device-agent asks for them: real clients at a real gateway with a real store. */

const STARTED_AT = '2026-11-20T10:00:00.000Z';
const LATER = '2026-11-20T12:00:00.000Z';

interface Member {
  readonly id: string;
  readonly home: DeviceHome;
  process: DeviceProcess;
}

let bench: TestBench;
let gate: BenchGateway;
let web: Member;
let db: Member;
let tasks = 0;

beforeAll(async () => {
  bench = await TestBench.start();
  gate = await bench.gateway({ endpoint: { port: await ownPort() } });
  [web, db] = [await member('web-1'), await member('db-1')];
});
afterAll(async () => {
  for (const { process, home } of [web, db]) {
    await process.kill('SIGKILL');
    await home.remove();
  }
  await bench.clear();
  await bench.stop();
});

async function member(id: string): Promise<Member> {
  const home = await makeHome();
  await writeFile(home.tokenFile, `token-${id}\n`, { mode: 0o600 });
  return { id, home, process: startDevice(home, gate.url) };
}

/** As kill -9 and a supervisor do. */
async function restart(one: Member): Promise<void> {
  const before = await bench.sessionOf(one.id);
  await one.process.kill('SIGKILL');
  one.process = startDevice(one.home, gate.url);
  await bench.sessionOf(one.id, before);
}

async function restartGateway(): Promise<void> {
  const port = Number(new URL(gate.url).port);
  await bench.kill(gate);
  gate = await bench.gateway({ endpoint: { port } });
}

interface Sent {
  readonly request: RunCommandRequest;
  /** Asked again and again as the device-agent does. */
  readonly outcome: Promise<CommandOutcome>;
}

type Change = Partial<RunCommandRequest> & { readonly runId?: string };

async function send(to: Member, command: CommandCall, { runId = 'run-1', ...change }: Change = {}): Promise<Sent> {
  const presence = await until(async () => (await bench.presenceOf(to.id)) ?? undefined);
  const attempt = { runId, taskId: `t${tasks++}`, attempt: 1 };
  const { tool } = command;
  const moves = tool === 'WORKSPACE_OUT' || tool === 'WORKSPACE_IN';
  const request: RunCommandRequest = {
    kind: 'run',
    commandId: moves ? workspaceCommandIdOf(attempt, tool) : commandIdOf(attempt),
    attempt,
    deviceId: to.id,
    sessionId: presence.sessionId,
    journalId: presence.journalId,
    command,
    workspace: true,
    startedAt: STARTED_AT,
    priority: 0,
    notAfter: '2099-01-01T00:00:00.000Z',
    ...change,
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
  const answer = await bench.caller.request(subjects.deviceCommand(request.deviceId), body, { timeout: 2_000 });
  return DeviceAnswer.parse(answer.json());
}

const sh = async (on: Member, command: string, change: Change = {}): Promise<CommandOutcome> =>
  (await send(on, { tool: 'EXEC_CLI', arguments: { command, timeout: 600 } }, change)).outcome;
const outOf = (on: Member, patterns: string[], change?: Change): Promise<Sent> =>
  send(on, { tool: 'WORKSPACE_OUT', arguments: { patterns } }, change);
const into = (on: Member, files: Json, change?: Change): Promise<Sent> =>
  send(on, { tool: 'WORKSPACE_IN', arguments: { files } }, change);

const filesOf = ({ result }: CommandOutcome): WorkspaceFile[] =>
  (result as { files?: WorkspaceFile[] } | null)?.files ?? [];
const jsonOf = (files: readonly WorkspaceFile[]): Json => files.map((file) => ({ ...file }));
const inWorkspace = (on: Member, path: string, runId = 'run-1'): string =>
  join(on.home.dataDir, 'workspaces', runId, path);
const shaOf = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');

/** Content that nothing else in this file has. */
let seed = 0;
async function fill(on: Member, path: string, bytes: number, runId = 'run-1'): Promise<string> {
  const content = Buffer.alloc(bytes, createHash('sha512').update(`w${++seed}`).digest());
  if (bytes >= 4) content.writeUInt32LE(seed);
  await sh(on, `mkdir -p "$(dirname '${path}')"`, { runId });
  await writeFile(inWorkspace(on, path, runId), content);
  return shaOf(content);
}

/** Sends what moves a file, and comes back while it does. */
async function moving(type: string, sending: () => Promise<Sent>): Promise<Sent> {
  const before = await framesSeen(gate, type);
  const sent = await sending();
  await until(async () => ((await framesSeen(gate, type)) > before + 4 ? true : undefined));
  return sent;
}

const LARGE = 16_000_000;

describe('a command of a run that has a workspace', () => {
  it('begins in it, and is told where it is', async () => {
    const outcome = await sh(web, 'pwd; echo "$ORRERY_WORKSPACE"; mkdir -p logs; cd logs; echo a > a.log');
    const path = inWorkspace(web, '.');
    expect(outcome).toMatchObject({ state: 'COMPLETED', result: { stdout: `${path}\n${path}\n` } });
    const below = { tool: 'EXEC_CLI', arguments: { command: 'cat a.log', working_directory: 'logs' } };
    expect(await (await send(web, below)).outcome).toMatchObject({ result: { stdout: 'a\n' } });
  });

  it('begins in the jail directory when nobody has said so', async () => {
    const {
      workspace: _,
      startedAt: __,
      ...request
    } = (await send(web, { tool: 'EXEC_CLI', arguments: { command: 'true' } })).request;
    const outcome = await follow({
      ...request,
      commandId: 'run-1.jail.1.0.0',
      command: { tool: 'EXEC_CLI', arguments: { command: 'pwd; echo "[$ORRERY_WORKSPACE]"' } },
    });
    expect(outcome).toMatchObject({ result: { stdout: `${web.home.jailDir}\n[]\n` } });
  });
});

describe('files of a task', () => {
  it('go from one device to another, once, with their places and permissions', async () => {
    await sh(
      web,
      "mkdir -p 'logs/web 1'; echo one > 'logs/web 1/a.log'; echo two > logs/b.log; chmod 750 logs/b.log; echo no > c",
    );
    const outcome = await (await outOf(web, ['logs/**/*.log'])).outcome;
    expect(outcome).toMatchObject({ state: 'COMPLETED', error: null });
    const files = filesOf(outcome).filter(({ path }) => path !== 'logs/a.log');
    expect(files).toEqual([
      { path: 'logs/b.log', sha256: shaOf(Buffer.from('two\n')), bytes: 4, mode: '750' },
      { path: 'logs/web 1/a.log', sha256: shaOf(Buffer.from('one\n')), bytes: 4, mode: expect.any(String) },
    ]);
    expect(outcome.files?.find(({ path }) => path === 'logs/b.log')).toEqual({
      name: 'b.log',
      mediaType: 'application/octet-stream',
      artifact: { sha256: files[0]?.sha256, bytes: 4 },
      path: 'logs/b.log',
      mode: '750',
    });
    expect(await (await into(db, jsonOf(files))).outcome).toMatchObject({ state: 'COMPLETED', result: { fetched: 2 } });
    expect(await sh(db, "cat logs/b.log 'logs/web 1/a.log'; stat -c %a logs/b.log")).toMatchObject({
      result: { stdout: 'two\none\n750\n' },
    });
    expect(await (await into(db, jsonOf(files))).outcome).toMatchObject({ result: { fetched: 0 } });
  });

  it('are stored once where two devices have the same, and moved once where a command is repeated', async () => {
    const sha256 = await fill(web, 'same', 3_000_000, 'run-same');
    await writeFile(join(web.home.dir, 'copy'), await readFile(inWorkspace(web, 'same', 'run-same')));
    await sh(db, `cp '${join(web.home.dir, 'copy')}' again`, { runId: 'run-same' });
    const first = await outOf(web, ['same'], { runId: 'run-same' });
    expect(filesOf(await first.outcome)).toMatchObject([{ sha256 }]);
    const before = await framesSeen(gate, 'file_chunk');
    expect(filesOf(await (await outOf(db, ['again'], { runId: 'run-same' })).outcome)).toMatchObject([{ sha256 }]);
    expect(filesOf(await follow(first.request))).toMatchObject([{ sha256 }]);
    expect(await framesSeen(gate, 'file_chunk')).toBe(before);
  });

  it('end their task by name, and not the device, when one is missing', async () => {
    expect(await (await outOf(web, ['nothing.csv'])).outcome).toMatchObject({
      state: 'FAILED',
      error: { code: 'FILE_MISSING', message: expect.stringContaining('"nothing.csv"') },
    });
    expect(
      await (
        await into(web, [{ path: 'x', sha256: 'f'.repeat(64), bytes: 1, mode: '644' }])
      ).outcome,
    ).toMatchObject({
      state: 'FAILED',
      error: { code: 'FILE_UNAVAILABLE' },
    });
    expect(await sh(web, 'true')).toMatchObject({ state: 'COMPLETED' });
  });

  it('are moved by nobody who calls the tools by their names', async () => {
    const call = { tool: 'WORKSPACE_OUT', arguments: { patterns: ['**'] } };
    await expect((await send(web, call, { commandId: 'run-1.x.1.0.0' })).outcome).rejects.toThrow('tool of the system');
  });

  it.each<[string, () => Promise<void>]>([
    ['its sender', () => restart(web)],
    ['the gateway', restartGateway],
  ])('leave their device after all when %s dies in the middle', async (_, die) => {
    const sha256 = await fill(web, 'large', LARGE);
    const { outcome } = await moving('file_chunk', () => outOf(web, ['large']));
    await die();
    expect(filesOf(await outcome)).toMatchObject([{ path: 'large', sha256, bytes: LARGE }]);
  });

  it.each<[string, () => Promise<void>]>([
    ['its receiver', () => restart(db)],
    ['the gateway', restartGateway],
  ])('come to their device after all when %s dies in the middle', async (_, die) => {
    const sha256 = await fill(web, 'large', LARGE);
    const files = filesOf(await (await outOf(web, ['large'])).outcome);
    const { outcome } = await moving('file_chunk', () => into(db, jsonOf(files)));
    await die();
    expect(await outcome).toMatchObject({ state: 'COMPLETED', result: { fetched: 1 } });
    expect(shaOf(await readFile(inWorkspace(db, 'large')))).toBe(sha256);
    expect(await readdir(inWorkspace(db, '../.parts'))).toEqual([]);
  });

  it('end their task where the disk is full, and the device goes on', async () => {
    const home = await makeHome();
    const directory = join(home.dataDir, 'workspaces');
    await mkdir(directory, { recursive: true, mode: 0o711 });
    const disk = mountSmallDisk(directory, { mib: 64 });
    try {
      if (disk === undefined) return;
      await writeFile(home.tokenFile, 'token-small-1\n', { mode: 0o600 });
      const small = { id: 'small-1', home, process: startDevice(home, gate.url) };
      await fill(web, 'for-small', 3_000_000);
      const files = filesOf(await (await outOf(web, ['for-small'])).outcome);
      expect(await (await into(small, jsonOf(files))).outcome).toMatchObject({
        state: 'FAILED',
        error: { code: 'DISK_FULL', message: expect.stringMatching(/bytes free, and \d+ are needed/u) },
      });
      expect(await sh(small, 'ls')).toMatchObject({ state: 'COMPLETED', result: { stdout: '' } });
      await small.process.kill('SIGKILL');
    } finally {
      disk?.unmount();
      await home.remove();
    }
  });

  it('are given up when their attempt is stopped, and nothing of them stays', async () => {
    await fill(web, 'stopped', LARGE);
    const files = filesOf(await (await outOf(web, ['stopped'])).outcome);
    const { request, outcome } = await moving('file_chunk', () => into(db, jsonOf(files)));
    await bench.ask({ kind: 'stop', attempt: request.attempt, deviceId: db.id });
    expect(await outcome).toMatchObject({ state: 'CANCELLED', error: { code: 'ATTEMPT_STOPPED' } });
    expect(await readdir(inWorkspace(db, '../.parts'))).toEqual([]);
    expect(await readdir(inWorkspace(db, ''))).not.toContain('stopped');
  });
});

describe('the end of a run', () => {
  const forget = (runId: string, keep: boolean, endedAt = '2026-11-20T11:00:00.000Z'): Promise<DeviceAnswer> =>
    bench.ask({ kind: 'forget', runId, endedAt, keep, deviceId: web.id });
  const listed = async (): Promise<string[]> => {
    const answer = await bench.ask({ kind: 'workspaces', deviceId: web.id });
    if (answer.state !== 'workspaces') throw new Error(JSON.stringify(answer));
    return answer.workspaces.map(({ runId, kept, files }) => `${runId}${kept ? ' kept' : ''} ${files}`);
  };

  const gone = (runId: string): Promise<true> =>
    until(async () => ((await listed()).some((text) => text.startsWith(runId)) ? undefined : true));

  it('takes its workspace away, or keeps it when somebody has said so, also when the device dies right after that', async () => {
    await sh(web, 'mkdir -p a/b; touch a/b/c d', { runId: 'run-gone' });
    await sh(web, 'touch x', { runId: 'run-kept' });
    expect(await listed()).toEqual(expect.arrayContaining(['run-gone 2', 'run-kept 1']));
    expect(await forget('run-kept', true)).toEqual({ state: 'done' });
    expect(await forget('run-gone', false)).toEqual({ state: 'done' });
    await restart(web);
    await gone('run-gone');
    expect(await forget('run-gone', false)).toEqual({ state: 'done' });
    expect(await listed()).toContain('run-kept kept 1');
    expect(await forget('run-kept', false)).toEqual({ state: 'done' });
    await gone('run-kept');
  });

  it('lets nothing of it begin any more, and a run that was opened again goes on', async () => {
    const late = await sh(web, 'touch x', { runId: 'run-gone' });
    expect(late).toMatchObject({ state: 'CANCELLED', error: { code: 'RUN_ENDED' } });
    expect(await listed()).not.toContainEqual(expect.stringContaining('run-gone'));
    expect(await sh(web, 'touch x', { runId: 'run-gone', startedAt: LATER })).toMatchObject({ state: 'COMPLETED' });
    // The word of its first end comes once more.
    expect(await forget('run-gone', false)).toEqual({ state: 'done' });
    expect(await listed()).toContain('run-gone 1');
  });

  it('ends what still runs in it', async () => {
    const { outcome } = await send(
      web,
      { tool: 'EXEC_CLI', arguments: { command: 'echo > began; sleep 600', timeout: 700 } },
      { runId: 'run-late' },
    );
    await until(async () => ((await listed()).includes('run-late 1') ? true : undefined));
    expect(await forget('run-late', false)).toEqual({ state: 'done' });
    expect(await outcome).toMatchObject({ state: 'CANCELLED' });
    await gone('run-late');
  });
});
