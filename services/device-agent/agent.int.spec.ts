import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import {
  BUCKETS,
  commandIdOf,
  OutputChunk,
  subjects,
  type AttemptCommit,
  type DeviceRequest,
  type RunCommit,
} from '#proto';
import { openAttemptLog, openRunLog, readCommits, verifyChain, type Stored } from '#libs/event-log';
import { ScriptedChatModel, type ChatModel, type Scripted } from '#libs/llm';
import { getArtifact, query, readMembers } from '#libs/messaging';
import { moment, type Replica, startTestBus, type TestBus } from '#libs/testing';
import { ScriptedDevice } from './testing/device.js';
import { profileOf } from './testing/profile.js';
import { serveAgent } from './testing/served.js';
import { DEVICE_ID, TestRun, type TaskLike } from './testing/run.js';
import { finish, reply } from './testing/shell-agent.js';

const TIMES = { lookMs: 50, askMsMin: 5, askMsMax: 20 };
const ISSUED = ['STEP_PLANNED', 'COMMAND_JUDGED', 'COMMAND_ISSUED'];

let bus: TestBus;
let nc: NatsConnection;
let count = 0;
const device = new ScriptedDevice();
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  bus = await startTestBus();
  nc = await bus.as('admin');
  const profiles = await new Kvm(nc).open(BUCKETS.AGENT_PROFILES.bucket);
  await profiles.put(DEVICE_ID, JSON.stringify(profileOf()));
  nc.subscribe(subjects.anyDeviceCommand, {
    callback: (error, message) => {
      if (error === null) message.respond(JSON.stringify(device.answer(message.json<DeviceRequest>())));
    },
  });
});

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

afterAll(() => bus.stop());

async function agent(instance: string, model: ChatModel | null = null): Promise<Replica> {
  const started = await serveAgent({ nc: await bus.as('device-agent'), instance, times: TIMES, attemptsMax: 1, model });
  closing.push(() => started.stop());
  return started;
}

/** A run with one task for the agent of the device, or another one, begun. */
async function begin(
  like: Partial<TaskLike> = {},
): Promise<{ run: TestRun; record: (commit: RunCommit) => Promise<unknown> }> {
  const startedAt = new Date().toISOString();
  const timeoutAt = new Date(Date.now() + 600_000).toISOString();
  const task = { id: 'a', agent: true, startedAt, ...like, start: { timeoutAt, ...like.start } };
  const run = new TestRun([task], `run-${++count}`);
  run.start(task);
  const log = openRunLog(nc);
  const record = async (commit: RunCommit) => log.append(run.runId, commit, await log.endsAt(run.runId));
  for (const commit of run.commits) await record(commit);
  return { run, record };
}

/** Waits until the attempt's end, or whatever else, is stored. */
async function stored(runId: string, type = 'ATTEMPT_FINISHED'): Promise<Stored<AttemptCommit>[]> {
  const key = { runId, taskId: 'a', attempt: 1 };
  for await (const entry of readCommits(nc, 'ATTEMPTS', { afterSequence: 0 })) {
    if (entry.subject.includes(runId) && entry.types.includes(type)) break;
  }
  return openAttemptLog(nc).load(key);
}

const typesOf = (commits: Stored<AttemptCommit>[]) =>
  commits.map(({ commit }) => commit.events.map(({ type }) => type));

describe('an agent on a real server', () => {
  it('does a task in two steps, with the rights of its service only, and says what it thinks meanwhile', async () => {
    const model = new ScriptedChatModel([reply('df -h', { thought: 'first the disks' }), finish('two disks')]);
    await agent('i1', model);
    const chunks = nc.subscribe(subjects.anyOutput, { max: 1 });
    const { run } = await begin();
    const commits = await stored(run.runId);
    expect(typesOf(commits)).toEqual([ISSUED, ['COMMAND_FINISHED'], ['STEP_PLANNED', 'ATTEMPT_FINISHED']]);
    expect(verifyChain(commits.map(({ commit }) => commit))).toEqual([]);
    const end = commits.at(-1)?.commit.events.at(-1);
    expect(end?.data).toMatchObject({ status: 'completed', result: { value: 'two disks' }, used: { llmCalls: 2 } });
    const planned = commits[0]?.commit.events[0];
    if (planned?.type !== 'STEP_PLANNED') throw new Error('no plan');
    const prompt = await getArtifact(nc, planned.data.calls[0]?.prompt?.sha256 ?? '');
    expect(Buffer.from(prompt).toString()).toContain('look at the disks');
    for await (const message of chunks) {
      const commandId = commandIdOf({ runId: run.runId, taskId: 'a', attempt: 1 }, 1);
      expect(OutputChunk.parse(message.json())).toMatchObject({
        commandId,
        stream: 'thought',
        text: 'first the disks',
      });
    }
  });

  it('says which agents it serves for as long as it does, and what its policy says', async () => {
    const serving = await agent('i2', new ScriptedChatModel([]));
    const agents = async () => (await readMembers(nc, 'device-agent')).map((member) => member.agents);
    let served = await agents();
    for (; served.length === 0; served = await agents()) await moment();
    expect(served).toEqual([['LinuxAgent']]);
    const command = { tool: 'EXEC_CLI', arguments: { command: 'rm x' } };
    expect(await query(nc, 'device-agent', 'explain', { command })).toMatchObject({
      verdict: { decision: 'approve', rule: 'program.rm' },
    });
    await serving.stop();
    expect(await agents()).toEqual([]);
  });

  it('judges an exact command that a model may have written, and runs it when a person lets it', async () => {
    await agent('i5');
    const { run, record } = await begin({ agent: false, arguments: { command: 'rm /tmp/x' }, start: { judge: true } });
    const [asked] = await stored(run.runId, 'ATTEMPT_ASKED');
    const ask = asked?.commit.events.at(-1);
    if (ask?.type !== 'ATTEMPT_ASKED') throw new Error('nothing is asked');
    await record(run.ask(ask.data));
    await record(run.decide({ approvalId: ask.data.approvalId, decision: 'approved' }));
    const commits = await stored(run.runId);
    expect(typesOf(commits)).toEqual([
      ['COMMAND_JUDGED', 'ATTEMPT_ASKED'],
      ['ATTEMPT_SIGNALLED'],
      ['COMMAND_ISSUED'],
      ['COMMAND_FINISHED'],
      ['ATTEMPT_FINISHED'],
    ]);
    expect(device.executed).toContain(commandIdOf({ runId: run.runId, taskId: 'a', attempt: 1 }));
  });

  it('waits for a person without holding the only place, and goes on in another replica', async () => {
    const replies: Scripted[] = [reply('rm /tmp/x'), finish('removed')];
    const model = new ScriptedChatModel(({ turn }) => replies[Number(turn.split('.').at(-1)) - 1]);
    const first = await agent('i3', model);
    const { run, record } = await begin();
    const [asked] = await stored(run.runId, 'ATTEMPT_ASKED');
    const ask = asked?.commit.events.at(-1);
    if (ask?.type !== 'ATTEMPT_ASKED') throw new Error('nothing is asked');
    const exact = new TestRun([{ id: 'a' }], `run-${++count}`);
    exact.start({ id: 'a', startedAt: new Date().toISOString() });
    const log = openRunLog(nc);
    for (const commit of exact.commits) await log.append(exact.runId, commit, await log.endsAt(exact.runId));
    expect(typesOf(await stored(exact.runId))).toEqual([['COMMAND_FINISHED', 'ATTEMPT_FINISHED']]);
    await first.stop();
    await agent('i4', model);
    await stored(run.runId, 'ATTEMPT_RESUMED');
    await record(run.ask(ask.data));
    await record(run.decide({ approvalId: ask.data.approvalId, decision: 'approved' }));
    const commits = await stored(run.runId);
    expect(typesOf(commits)).toEqual([
      ['STEP_PLANNED', 'COMMAND_JUDGED', 'ATTEMPT_ASKED'],
      ['ATTEMPT_RESUMED'],
      ['ATTEMPT_SIGNALLED'],
      ['COMMAND_ISSUED'],
      ['COMMAND_FINISHED'],
      ['STEP_PLANNED', 'ATTEMPT_FINISHED'],
    ]);
    expect(verifyChain(commits.map(({ commit }) => commit))).toEqual([]);
    expect(model.requests.map(({ turn }) => turn)).toEqual([`${run.runId}.a.1.1`, `${run.runId}.a.1.2`]);
  });
});
