import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { openRunLog, readCommits } from '#libs/event-log';
import { connectBus, sendVerb } from '#libs/messaging';
import {
  connectDevice,
  moment,
  type Replica,
  requestRun,
  startReplica,
  startTestBus,
  type TestBus,
} from '#libs/testing';
import { BUCKETS, subjects, type DeviceRequest, type RecordedRunEvent, type RunId, type RunOptions } from '#proto';
import { runProgram } from '../../services/cli/run-program.js';
import { fakeTerminal, surroundings } from '../../services/cli/testing/fake-terminal.js';
import { startConsole } from '../../services/console/console.testing.js';
import { ScriptedDevice } from '../../services/device-agent/testing/device.js';
import { serveAgent } from '../../services/device-agent/testing/served.js';
import { startOrchestrator } from '../../services/orchestrator/rig.testing.js';
import { RunbookShelf } from '../../services/planner/kit/index.js';
import { servePlanner } from '../../services/planner/testing/served.js';
import { askAs, newSeed, publicKeyOf, shown } from '../../services/registry/actors/people.testing.js';
import { REGISTRY_CONFIG, RegistryModule, ROWS, SEED } from '../../services/registry/registry.module.js';

/* A runbook that deletes what it is told to, on a bus where every service has its own rights. Who asks for it is no approver. */

const RUNBOOK = (command: string): string => `name: clean
title: Clean
description: Removes a directory.
parameters:
  - { name: path, description: what, required: true }
constellation:
  tasks:
    - task_id: clean
      name: Clean
      target_device_id: web-1
      command: { tool: EXEC_CLI, arguments: { command: "${command}" } }
`;
const REMOVE = 'rm -r {{ p.path | sh }}';
const TIMES = { lookMs: 50, askMsMin: 5, askMsMax: 20 };
const NOWHERE = { name: 'nowhere', write: async () => undefined, remove: async () => undefined, list: async () => [] };

const device = new ScriptedDevice();
let bus: TestBus;
let admin: NatsConnection;
let cli: NatsConnection;
let directory: string;
let registry: { readonly replica: Replica; readonly nc: NatsConnection };
let planner: Replica;
const replicas: Replica[] = [];
const seeds: Record<'cli' | 'anna' | 'bert', string> = { cli: '', anna: newSeed(), bert: newSeed() };
let count = 0;

async function startRegistry(): Promise<void> {
  const nc = await connectBus({
    url: bus.server.url,
    name: 'registry',
    inboxPrefix: '_INBOX_registry',
    seedFile: bus.seedFile('registry'),
  });
  const replica = await startReplica(RegistryModule, {
    service: 'registry',
    nc,
    instance: `registry-${++count}`,
    providers: [
      { provide: REGISTRY_CONFIG, useValue: { graceMs: 10_000, credentialMs: 3_600_000 } },
      { provide: SEED, useValue: await bus.seedOf('registry') },
      { provide: ROWS, useValue: NOWHERE },
    ],
  });
  registry = { replica, nc };
  // It has enrolled nobody, and forgets whom others have shown.
  await connectDevice(admin, 'web-1');
}

/** As a killed process: nothing is said to anybody. */
async function killRegistry(): Promise<void> {
  await registry.nc.close();
  await registry.replica.stop().catch(() => undefined);
}

/** The planner with this command in its runbook. */
async function plansWith(command: string): Promise<void> {
  await planner?.stop();
  await writeFile(join(directory, 'clean.yaml'), RUNBOOK(command));
  const shelf = await RunbookShelf.open([{ path: directory, source: 'operator' }], pino({ level: 'silent' }));
  expect(shelf.problems).toEqual([]);
  const nc = await bus.as('planner');
  planner = await servePlanner({ nc, instance: `planner-${++count}`, kit: { shelf, model: null } });
}

beforeAll(async () => {
  bus = await startTestBus();
  [admin, cli, seeds.cli] = await Promise.all([bus.as('admin'), bus.as('cli'), bus.seedOf('cli')]);
  directory = await mkdtemp(join(tmpdir(), 'orrery-standing-'));
  await startRegistry();
  for (const [actorId, roles] of [
    ['anna', ['requester']],
    ['bert', ['approver']],
  ] as const) {
    const key = publicKeyOf(seeds[actorId]);
    await askAs(cli, seeds.cli, 'people-add', { id: `add-${actorId}`, actorId, kind: 'person', roles });
    await askAs(cli, seeds.cli, 'people-key', { id: `key-${actorId}`, actorId, change: 'add', key });
  }
  admin.subscribe(subjects.anyDeviceCommand, {
    callback: (error, message) => {
      if (error === null) message.respond(JSON.stringify(device.answer(message.json<DeviceRequest>())));
    },
  });
  replicas.push(await startOrchestrator(await bus.as('orchestrator')));
  replicas.push(await serveAgent({ nc: await bus.as('device-agent'), instance: 'a', times: TIMES, attemptsMax: 9 }));
  await plansWith(REMOVE);
});

afterAll(async () => {
  await planner.stop();
  for (const replica of replicas) await replica.stop();
  await killRegistry();
  await bus.stop();
  await rm(directory, { recursive: true, force: true });
});

/** The command line of the first person, who may approve. */
async function orrery(line: string): Promise<{ code: number; out: string; err: string }> {
  const terminal = fakeTerminal();
  const env = {
    ORRERY_NATS_URL: bus.server.url,
    ORRERY_NATS_SEED_FILE: bus.seedFile('cli'),
    ORRERY_HOME: join(directory, 'home'),
  };
  const code = await runProgram(line.split(' '), { ...surroundings(terminal, env), now: () => Date.now() });
  return { code, out: terminal.outLines.join('\n'), err: terminal.errLines.join('\n') };
}

async function ask(goal: string, options: RunOptions = {}, by: keyof typeof seeds = 'anna'): Promise<RunId> {
  const request = { requestId: `r-${++count}`, goal, options: { judge: 'all', ...options } };
  return requestRun(cli, request, seeds[by]);
}

/** What is recorded of a run up to the first commit with one of these. */
async function until(runId: RunId, ...types: RecordedRunEvent['type'][]): Promise<RecordedRunEvent[]> {
  for await (const entry of readCommits(admin, 'RUNS', { afterSequence: 0 })) {
    if (entry.subject === subjects.run(runId) && types.some((type) => entry.types.includes(type))) break;
  }
  return (await openRunLog(admin).load(runId)).flatMap(({ commit }) => commit.events);
}

/** By whose words its command ran, asked for in the same commit; undefined when it waits for somebody. */
async function decisionOf(runId: RunId) {
  const events = await until(runId, 'APPROVAL_REQUESTED', 'RUN_FAILED');
  const decided = events.find(({ type }) => type === 'APPROVAL_DECIDED');
  return decided?.type === 'APPROVAL_DECIDED' ? decided.data : undefined;
}

/** Nothing has run, and it is not left waiting. */
async function waits(runId: RunId): Promise<boolean> {
  const decision = await decisionOf(runId);
  const signer = { seed: seeds.cli, now: () => Date.now() };
  await sendVerb(cli, { runId, verb: 'CANCEL', fields: {}, id: `c-${++count}`, deadlineMs: 10_000, ...signer });
  return decision === undefined && !device.executed.some((id) => id.startsWith(runId));
}

async function approve(words: string): Promise<{ approvalId: string; contentHash: string }> {
  const { code, out, err } = await orrery(`runbooks approve clean ${words} --yes --json`);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out) as { approvalId: string; contentHash: string };
}

describe('a runbook whose content is approved once', () => {
  it('asks in every run before that, and nothing of it has run', async () => {
    expect(await waits(await ask('clean path=/srv/old'))).toBe(true);
  });

  it('is shown as it would run before anybody says yes to it', async () => {
    const { code, out, err } = await orrery('runbooks approve clean path=/srv/old');
    expect(code).toBe(0);
    expect(out).toContain("would ask: clean on web-1 (destructive, program.rm)\n    EXEC_CLI rm -r '/srv/old'");
    expect(err).toMatch(/Nothing is approved yet.*--content [0-9a-f]{64} --yes/u);
    expect(JSON.parse((await orrery('runbooks approvals --json')).out)).toEqual({ approvals: [] });
    const other = await orrery(`runbooks approve clean path=/srv/new --content ${'0'.repeat(64)} --yes`);
    expect(other.err).toContain('look at it again');
  });

  it('runs for who may not approve without a word, and the run says by whose words', async () => {
    const { approvalId, contentHash } = await approve('path=/srv/old');
    const runId = await ask('clean path=/srv/old');
    const events = await until(runId, 'RUN_COMPLETED', 'RUN_FAILED');
    expect(events.at(-1)?.type).toBe('RUN_COMPLETED');
    expect(await decisionOf(runId)).toMatchObject({
      by: { id: 'cli' },
      standing: { contentHash, ids: [approvalId] },
    });
    const ran = device.requests.find((one) => one.kind === 'run' && one.commandId.startsWith(runId));
    // The device is told that a person let it run, and judges once more.
    expect(ran).toMatchObject({ judged: { decision: 'approve', approvalId: `${runId}.clean.1.0.0` } });
    const verified = await orrery(`verify ${runId} --json`);
    expect(JSON.parse(verified.out)).toMatchObject({ ok: true });
    expect((await orrery(`replay ${runId}`)).out).toContain(
      `approved by cli, with the plan ${contentHash.slice(0, 16)}, standing approval ${approvalId}`,
    );
    expect((await orrery('runbooks approvals')).out).toMatch(
      new RegExp(`${approvalId}.*cli.*counts.*path="/srv/old"`, 'u'),
    );
  });

  it('lets its plan go on that would wait for somebody to see it', async () => {
    const runId = await ask('clean path=/srv/old', { plan: 'approve' });
    const events = await until(runId, 'RUN_COMPLETED', 'RUN_FAILED');
    expect(events.map(({ type }) => type)).toContain('RUN_RESUMED');
    expect(events.find(({ type }) => type === 'RUN_RESUMED')?.data).toMatchObject({
      standing: { ids: [expect.any(String)] },
    });
  });

  it('asks for another value, and with one byte changed', async () => {
    expect(await waits(await ask('clean path=/srv/olds'))).toBe(true);
    await plansWith(REMOVE.replace('-r', '-R'));
    expect(await waits(await ask('clean path=/srv/old'))).toBe(true);
    await plansWith(REMOVE);
    expect(await decisionOf(await ask('clean path=/srv/old'))).toBeDefined();
  });

  it('asks where who approved it asks for it himself, and where a run takes two persons', async () => {
    expect(await waits(await ask('clean path=/srv/old', {}, 'cli'))).toBe(true);
    expect(await waits(await ask('clean path=/srv/old', { approvals: 2 }))).toBe(true);
  });

  it('stays approved when the registry is killed before others could see it', async () => {
    await approve('path=/srv/killed');
    await killRegistry();
    // As if it had died between the fact and its picture.
    const bucket = await new Kvm(admin).open(BUCKETS.ACTORS.bucket);
    const { approvals: _, ...before } = (await shown(admin, 'cli')) ?? {};
    await bucket.put('cli', JSON.stringify({ ...before, revision: 1 }));
    await startRegistry();
    while ((await shown(admin, 'cli'))?.approvals?.length !== 2) await moment();
    expect(await decisionOf(await ask('clean path=/srv/killed'))).toBeDefined();
  });

  it('asks again when anybody who may has taken it back, and nobody else could', async () => {
    const { approvalId } = await approve('path=/srv/back');
    const revoke = (by: keyof typeof seeds) =>
      askAs(cli, seeds[by], 'content-revoke', { id: `revoke-${++count}`, approvalId });
    await expect(revoke('anna')).rejects.toThrow(/content-revoke needs the role/u);
    expect(await revoke('bert')).toEqual({ changed: true });
    expect(await waits(await ask('clean path=/srv/back'))).toBe(true);
    expect((await orrery('runbooks approvals')).out).toMatch(new RegExp(`${approvalId}.*revoked`, 'u'));
  });

  it('is approved over HTTP by who is logged in, by the plan that he sends, and taken back', async () => {
    const started = await startConsole('the-admin-token', {
      ORRERY_NATS_URL: bus.server.url,
      ORRERY_NATS_SEED_FILE: bus.seedFile('console'),
      ORRERY_CONSOLE_PORT: '0',
      ORRERY_HEALTH_PORT: '0',
    });
    const http = async (method: string, path: string, body?: object): Promise<{ status: number; json: never }> => {
      const response = await fetch(`http://127.0.0.1:${started.port}/v1/content-approvals${path}`, {
        method,
        headers: { Authorization: 'Bearer the-admin-token', 'Content-Type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      return { status: response.status, json: (await response.json()) as never };
    };
    try {
      const { out } = await orrery('runbooks show clean path=/srv/http --json');
      const { constellation } = JSON.parse(out) as { constellation: object };
      const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
      const word = { constellation, about: { name: 'clean' }, expiresAt };
      expect(await http('POST', '', { ...word, contentHash: 'a'.repeat(64) })).toMatchObject({ status: 400 });
      const { status, json } = await http('POST', '', word);
      expect({ status, json }).toEqual({
        status: 200,
        json: { approvalId: expect.any(String), contentHash: expect.any(String) },
      });
      const { approvalId } = json as { approvalId: string };
      const runId = await ask('clean path=/srv/http');
      await until(runId, 'RUN_COMPLETED', 'RUN_FAILED');
      expect(await decisionOf(runId)).toMatchObject({ by: { id: 'cli' }, standing: { ids: [approvalId] } });
      // The console has signed it for him, by his login.
      expect(JSON.parse((await orrery(`verify ${runId} --json`)).out)).toMatchObject({ ok: true });
      const revoked = await http('POST', `/${approvalId}/revoke`, { reason: 'done' });
      expect(revoked).toMatchObject({ status: 200, json: { changed: true } });
      expect(await waits(await ask('clean path=/srv/http'))).toBe(true);
      const listed = JSON.stringify((await http('GET', '')).json);
      expect(listed).toContain(`"approvalId":"${approvalId}"`);
    } finally {
      await started.stop();
    }
  });

  it('is approved by nobody in the name of another, and not by who has no such role', async () => {
    const body = {
      contentHash: 'a'.repeat(64),
      about: { name: 'x' },
      expiresAt: new Date(Date.now() + 60_000).toISOString(),
    };
    await expect(askAs(cli, seeds.anna, 'content-approve', { id: 'anna-1', ...body })).rejects.toThrow(
      /needs the role approver/u,
    );
    expect(await askAs(cli, seeds.bert, 'content-approve', { id: 'bert-1', ...body })).toEqual({ changed: true });
    expect((await shown(admin, 'bert'))?.approvals).toMatchObject([{ approvalId: 'bert-1' }]);
  });
});
