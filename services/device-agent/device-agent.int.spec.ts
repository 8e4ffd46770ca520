import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { createUser } from '@nats-io/nkeys';
import { headers, type NatsConnection } from '@nats-io/transport-node';
import {
  BUCKETS,
  commandIdOf,
  DURABLES,
  HEADER_TYPES,
  subjects,
  type AgentProfile,
  type AttemptCommit,
  type DeviceRequest,
  type DurableSpec,
  type RunCommit,
} from '#proto';
import {
  openAttemptLog,
  openRunLog,
  readCommits,
  NO_COMMITS,
  sealNext,
  verifyChain,
  type AttemptLog,
  type RunLog,
  type Stored,
} from '#libs/event-log';
import { connectBus, getArtifact, natsUsers, query } from '#libs/messaging';
import { moment, type Replica, startTestNats, type TestNats, type TestNatsOptions } from '#libs/testing';
import { LiveAttempts } from './live/index.js';
import { outcomeOf, ScriptedDevice } from './testing/device.js';
import { serveAgent } from './testing/served.js';
import { DEVICE_ID, execCli, RUN_ID, SESSION_ID, STARTED_AT, TestRun } from './testing/run.js';

const A = { id: 'a', startedAt: new Date().toISOString() };
const B = { ...A, id: 'b' };
const KEY_A = { runId: RUN_ID, taskId: 'a', attempt: 1 };
const COMMAND_A = commandIdOf(KEY_A);
const ENDED = ['COMMAND_FINISHED', 'ATTEMPT_FINISHED'];
const TIMES = { lookMs: 50, askMsMin: 5, askMsMax: 20 };

let keys: string;
let users: NonNullable<TestNatsOptions['users']>;
let server: TestNats;
let nc: NatsConnection;
let runs: RunLog;
let attempts: AttemptLog;
let run: TestRun;
let device: ScriptedDevice;
let served: { unsubscribe(): void };
let recorded = 0;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  keys = await mkdtemp(join(tmpdir(), 'orrery-test-keys-'));
  users = await Promise.all(
    natsUsers().map(async (spec) => {
      const pair = createUser();
      await writeFile(join(keys, `${spec.name}.seed`), pair.getSeed(), { mode: 0o600 });
      return { ...spec, nkeyPublic: pair.getPublicKey() };
    }),
  );
});

afterAll(() => rm(keys, { recursive: true, force: true }));

beforeEach(async () => {
  server = await startTestNats({ users, provisioned: true });
  nc = await connect('admin');
  runs = openRunLog(nc);
  attempts = openAttemptLog(nc);
  run = new TestRun([A, B]);
  device = new ScriptedDevice();
  recorded = 0;
  served = serveDevice(nc);
});

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
  await server.stop();
});

/** The service with nothing but its own rights; the test with all of them, in the place of everybody else. */
async function connect(user: 'admin' | 'device-agent'): Promise<NatsConnection> {
  const seedFile = join(keys, `${user}.seed`);
  const connection = await connectBus({ url: server.url, name: user, inboxPrefix: `_INBOX_${user}`, seedFile });
  closing.push(() => connection.close());
  return connection;
}

/** The scripted device in the place of the gateway. */
function serveDevice(connection: NatsConnection): { unsubscribe(): void } {
  return connection.subscribe(subjects.anyDeviceCommand, {
    callback: (error, message) => {
      if (error !== null) return;
      const reply = device.answer(message.json<DeviceRequest>());
      if (reply.state !== 'silent') message.respond(JSON.stringify(reply));
    },
  });
}

async function agent(instance: string, connection?: NatsConnection): Promise<Replica> {
  const own = connection ?? (await connect('device-agent'));
  const started = await serveAgent({ nc: own, instance, times: TIMES, attemptsMax: 50 });
  closing.push(() => started.stop());
  return started;
}

/** Appends what the test wrote into the run since the last time. */
async function record(...commits: RunCommit[]): Promise<void> {
  for (const commit of run.commits.filter(
    ({ number }) => commits.length === 0 || number <= (commits.at(-1)?.number ?? 0),
  )) {
    if (commit.number <= recorded) continue;
    await runs.append(run.runId, commit, await runs.endsAt(run.runId));
    recorded = commit.number;
  }
}

/** Waits until so many commits of attempts are stored. */
async function stored(count: number): Promise<string[][]> {
  const types: string[][] = [];
  for await (const entry of readCommits(nc, 'ATTEMPTS', { afterSequence: 0 })) {
    types.push([...entry.types]);
    if (types.length === count) return types;
  }
  return types;
}

/** Waits until the durable has nothing left that is not acknowledged. */
async function acknowledged(durable: DurableSpec = DURABLES.deviceAgentAttempts): Promise<void> {
  const jsm = await jetstreamManager(nc, { checkAPI: false });
  for (;;) {
    // A question that is under way when the server restarts is never answered.
    const info = await jsm.consumers.info(durable.stream, durable.durable).catch(() => undefined);
    if (info?.num_pending === 0 && info.num_ack_pending === 0) return;
    await moment();
  }
}

const commitsOf = (commitsStored: Stored<AttemptCommit>[]) => commitsStored.map(({ commit }) => commit);

function profile(status: AgentProfile['status']): AgentProfile {
  return {
    deviceId: DEVICE_ID,
    status,
    agent: 'LinuxAgent',
    os: 'linux',
    arch: 'x64',
    hostname: 'web-1',
    capabilities: [],
    tags: [],
    tools: [],
    resources: { cpuCount: 1, memoryMb: 1 },
    tasksMax: 8,
    held: null,
    session: { sessionId: SESSION_ID, gateway: 'g1', journalId: 'journal-1', connectedAt: STARTED_AT },
    revision: 1,
    enrolledAt: STARTED_AT,
    changedAt: STARTED_AT,
  };
}

describe('the device agent on a real server', () => {
  it('carries a task out with one append, and acknowledges when its end is stored', async () => {
    await agent('i1');
    run.start(A, B);
    await record();
    expect(await stored(2)).toEqual([ENDED, ENDED]);
    await acknowledged();
    const commits = commitsOf(await attempts.load(KEY_A));
    expect(verifyChain(commits)).toEqual([]);
    expect(commits[0]).toMatchObject({ number: 1, by: { service: 'device-agent', instance: 'i1' } });
    expect(commits[0]?.events[1]?.data).toEqual({ status: 'completed', result: { value: execCli('echo a') } });
    expect(device.executed).toHaveLength(2);
  });

  it('tells the devices of a run that has ended, also one that was away then', async () => {
    served.unsubscribe();
    const inWorkspace = { ...A, start: { workspace: true as const } };
    await agent('i1');
    run.start(inWorkspace);
    run.end(new Date().toISOString());
    await record();
    const { stream, durable } = DURABLES.deviceAgentEnds;
    const jsm = await jetstreamManager(nc, { checkAPI: false });
    // It was told, nobody was there, and the message is held.
    while ((await jsm.consumers.info(stream, durable)).num_redelivered === 0) await moment();
    served = serveDevice(nc);
    await acknowledged(DURABLES.deviceAgentEnds);
    const said = device.requests.find(({ kind }) => kind === 'forget');
    expect(said).toMatchObject({ runId: RUN_ID, deviceId: DEVICE_ID, keep: false });
  });

  it('puts a big output whole into the object store and takes it from there as input', async () => {
    const stdout = 'x'.repeat(200_000);
    device.respond = () => outcomeOf('COMPLETED', execCli(stdout));
    await agent('i1');
    run.start(A);
    await record();
    await stored(1);
    const [commit] = commitsOf(await attempts.load(KEY_A));
    const end = commit?.events[1];
    if (end?.type !== 'ATTEMPT_FINISHED' || end.data.status !== 'completed') throw new Error('no result');
    const whole = await getArtifact(nc, end.data.result.artifact?.sha256 ?? '');
    expect(JSON.parse(Buffer.from(whole).toString())).toEqual(execCli(stdout));
    run.start({ ...B, arguments: { command: 'wc -c', stdin: { from: ['a'] } }, inputs: [{ taskId: 'a', attempt: 1 }] });
    await record();
    await stored(2);
    expect(device.requests.findLast(({ kind }) => kind === 'run')).toMatchObject({
      command: { arguments: { stdin: stdout } },
    });
  });

  it('goes on in another replica when the first one dies, with the same command', async () => {
    device.holds = true;
    const dying = await connect('device-agent');
    await agent('i1', dying);
    run.start(A);
    await record();
    await device.until(() => device.executed.length === 1);
    await dying.close(); // no drain, no nak: as after kill -9
    await agent('i2');
    expect(await stored(1)).toEqual([['ATTEMPT_RESUMED']]);
    device.finish(COMMAND_A, outcomeOf('COMPLETED', 1));
    expect(await stored(2)).toEqual([['ATTEMPT_RESUMED'], ENDED]);
    await acknowledged();
    expect(device.executed).toEqual([COMMAND_A]);
  });

  it('hands its attempts over at once when it is told to end', async () => {
    device.holds = true;
    const first = await agent('i1');
    run.start(A);
    await record();
    await device.until(() => device.executed.length === 1);
    await first.stop();
    expect(first.get(LiveAttempts).size).toBe(0);
    await agent('i2');
    expect(await stored(1)).toEqual([['ATTEMPT_RESUMED']]);
    device.finish(COMMAND_A, outcomeOf('COMPLETED', 1));
    await stored(2);
    expect(device.executed).toEqual([COMMAND_A]);
  });

  it('leaves an attempt to the replica that took it over, and the message with it', async () => {
    device.holds = true;
    await agent('i1');
    run.start(A);
    await record();
    await device.until(() => device.executed.length === 1);
    const [start] = await runs.load(RUN_ID, 0).then((found) => found.slice(-1));
    // Another replica got the message, too; here only its fact is needed.
    const resumed = { type: 'ATTEMPT_RESUMED' as const, data: { instance: 'i2' } };
    const taken = sealNext(NO_COMMITS, KEY_A, [resumed], {
      commit: '01HZZZZZZZZZZZZZZZZZZZZ999',
      now: Date.now(),
      by: { service: 'device-agent', instance: 'i2' },
      causes: [{ kind: 'run', id: start?.commit.commit ?? '' }],
    });
    await attempts.append({ ...KEY_A, kind: 'step' }, taken, 0);
    // i2 does not exist, so the message comes back to i1, which takes the attempt over in turn.
    expect(await stored(2)).toEqual([['ATTEMPT_RESUMED'], ['ATTEMPT_RESUMED']]);
    device.finish(COMMAND_A, outcomeOf('COMPLETED', 1));
    expect(await stored(3)).toEqual([['ATTEMPT_RESUMED'], ['ATTEMPT_RESUMED'], ENDED]);
    await acknowledged();
    expect(device.executed).toEqual([COMMAND_A]);
  });

  it('waits for a device that nobody serves, over a restart of the server', async () => {
    served.unsubscribe();
    await agent('i1');
    run.start(A);
    await record();
    const jsm = await jetstreamManager(nc, { checkAPI: false });
    const { stream, durable } = DURABLES.deviceAgentAttempts;
    while ((await jsm.consumers.info(stream, durable)).num_ack_pending === 0) await moment();
    await server.restart();
    serveDevice(nc);
    for await (const { types } of readCommits(nc, 'ATTEMPTS', { afterSequence: 0 })) {
      if (types.includes('ATTEMPT_FINISHED')) break;
    }
    await acknowledged();
    expect(
      commitsOf(await attempts.load(KEY_A))
        .at(-1)
        ?.events.map(({ type }) => type),
    ).toEqual(ENDED);
    expect(device.executed).toEqual([COMMAND_A]);
  });

  it('stops an attempt: the fact, the device, the end', async () => {
    device.holds = true;
    await agent('i1');
    await agent('i2');
    run.start(A);
    await record();
    await device.until(() => device.executed.length === 1);
    run.stop('a');
    await record();
    expect(await stored(2)).toEqual([['ATTEMPT_SIGNALLED'], ENDED]);
    await acknowledged();
    await acknowledged(DURABLES.deviceAgentControl);
    expect(commitsOf(await attempts.load(KEY_A))[1]?.events[1]).toMatchObject({
      data: { error: { outcome: 'cancelled' } },
    });
  });

  it('closes an attempt whose task ended without it', async () => {
    device.holds = true;
    await agent('i1');
    await agent('i2');
    run.start(A);
    await record();
    await device.until(() => device.executed.length === 1);
    device.intercept = ({ kind }) => (kind === 'stop' ? { state: 'done' } : undefined);
    run.failWithoutEnd('a');
    await record();
    expect(await stored(1)).toEqual([ENDED]);
    await acknowledged();
    expect(commitsOf(await attempts.load(KEY_A))[0]?.events[1]).toMatchObject({
      data: { error: { outcome: 'unknown' } },
    });
  });

  it('ends an attempt when the registry has declared its device lost, not before', async () => {
    device.holds = true;
    const kv = await new Kvm(nc).open(BUCKETS.AGENT_PROFILES.bucket);
    await kv.put(DEVICE_ID, JSON.stringify(profile('connected')));
    await agent('i1');
    run.start(A);
    await record();
    await device.until(() => device.executed.length === 1);
    await kv.put(DEVICE_ID, JSON.stringify(profile('suspect')));
    const asked = device.requests.length;
    await device.until(() => device.requests.length > asked + 2);
    expect(await attempts.endsAt(KEY_A)).toBe(0);
    await kv.put(DEVICE_ID, JSON.stringify(profile('lost')));
    await stored(1);
    expect(commitsOf(await attempts.load(KEY_A))[0]?.events[1]).toMatchObject({
      data: { error: { code: 'DEVICE_LOST' } },
    });
    await acknowledged();
  });

  it('records a result that comes after the loss of its device once, whichever replica is asked how often', async () => {
    device.holds = true;
    const kv = await new Kvm(nc).open(BUCKETS.AGENT_PROFILES.bucket);
    await kv.put(DEVICE_ID, JSON.stringify(profile('connected')));
    await agent('i1');
    await agent('i2');
    run.start(A);
    await record();
    await device.until(() => device.executed.length === 1);
    const deliver = async (deviceId = DEVICE_ID) => {
      const outcome = outcomeOf('COMPLETED', execCli('late'));
      return (await query(nc, 'device-agent', 'deliver', { deviceId, commandId: COMMAND_A, outcome })).state;
    };
    expect(await deliver()).toBe('wanted');
    await kv.put(DEVICE_ID, JSON.stringify(profile('lost')));
    await stored(1);
    expect(await deliver('web-2')).toBe('unknown');
    const answers = await Promise.all(Array.from({ length: 8 }, () => deliver()));
    expect(new Set(answers)).toEqual(new Set(['stored']));
    expect(await stored(2)).toEqual([ENDED, ['COMMAND_FINISHED']]);
    const commits = commitsOf(await attempts.load(KEY_A));
    expect(verifyChain(commits)).toEqual([]);
    expect(commits[1]?.events).toMatchObject([{ data: { state: 'COMPLETED', result: { value: execCli('late') } } }]);
  });

  it('buries a commit that is none and carries out the next one', async () => {
    await agent('i1');
    const head = headers();
    head.set(HEADER_TYPES, 'TASK_STARTED');
    await jetstream(nc).publish(subjects.run('other'), '{"events":[]}', { headers: head });
    run.start(A);
    await record();
    expect(await stored(1)).toEqual([ENDED]);
    await acknowledged();
    const jsm = await jetstreamManager(nc, { checkAPI: false });
    const letter = await jsm.streams.getMessage('DLQ', { last_by_subj: subjects.dlq('device-agent') });
    expect(letter?.json()).toMatchObject({ service: 'device-agent', durable: 'device-agent-attempts', deliveries: 1 });
  });
});
