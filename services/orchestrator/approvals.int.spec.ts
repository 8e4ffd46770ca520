import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { createUser } from '@nats-io/nkeys';
import type { NatsConnection } from '@nats-io/transport-node';
import {
  type Ask,
  BUCKETS,
  commandIdOf,
  type Member,
  partitionDurables,
  RunCommit,
  type RunEventType,
  type RunVerb,
  type VerbFields,
  subjects,
} from '#proto';
import { checkInvariants, foldRun, viewOf } from '#libs/constellation';
import { newCommitId, openAttemptLog, openRunLog, readCommits, sealCommit } from '#libs/event-log';
import { connectBus, provision, sendVerb } from '#libs/messaging';
import { systemClock } from '#libs/platform';
import {
  connectDevice,
  introduceWith,
  moment,
  type Replica,
  showActors,
  signedRequest,
  startTestNats,
  type TestNats,
} from '#libs/testing';
import { startOrchestrator } from './rig.testing.js';

const BERT = { kind: 'person', id: 'bert' } as const;
const [ALICE, CI] = [createUser(), createUser()];
const now = () => systemClock.now();
const HEARTBEAT_MS = 500;
/** Until when an approval may be given, and what it grants lasts, where no time is to pass. */
const LONG_MS = 3_600_000;

let nats: TestNats;
let nc: NatsConnection;
let orchestrator: Replica;
let agents: NodeJS.Timeout | undefined;

beforeAll(async () => {
  nats = await startTestNats({ provisioned: true });
  nc = await connectBus({ url: nats.url, name: 'test', inboxPrefix: '_INBOX_test' });
  const actors = new Map([
    [ALICE.getPublicKey(), { kind: 'person', id: 'alice' } as const],
    [CI.getPublicKey(), { kind: 'external', id: 'ci' } as const],
  ]);
  await showActors(nc, actors);
  await connectDevice(nc, 'web-1');
  orchestrator = await startOrchestrator(nc, { instance: 'one' });
});

afterEach(() => clearInterval(agents));

afterAll(async () => {
  await orchestrator.stop();
  await nc.close();
  await nats.stop();
});

describe('tasks of agents', () => {
  it('are refused while nobody serves agents, and started as soon as somebody does', async () => {
    const refused = await submit('early', ['a']);
    expect(refused).toMatchObject({ error: { issues: [{ path: 'constellation.tasks[0].command' }] } });
    await serveAgents();
    const runId = await accepted('agent-1', ['a']);
    const { events } = await untilEvent(runId, 'TASK_STARTED');
    const started = events.find(({ type }) => type === 'TASK_STARTED');
    expect(started?.data).toMatchObject({ agent: { name: 'a', blackboard: [] }, approval: 'always' });
  });
});

describe('what an agent asks', () => {
  it('is recorded with what it asks, and decided once by the word of a person', async () => {
    await serveAgents();
    const runId = await accepted('approve-1', ['a']);
    await untilEvent(runId, 'TASK_STARTED');
    const approvalId = await ask(runId, LONG_MS);
    const requested = await untilEvent(runId, 'APPROVAL_REQUESTED');
    expect(requested.events[0]?.data).toMatchObject({ ask: { approvalId, command: { tool: 'NOOP' } } });
    expect(requested.causes).toEqual([{ kind: 'attempt', id: 'a.1.ask.1' }]);
    expect(await fold(runId)).toMatchObject({ waitingFor: { reason: 'approval', wokenBy: 'operator' } });

    const unproven = await tell('APPROVE', runId, { approvalId }, CI);
    expect(unproven).toMatchObject({ answer: 'rejected', reason: { code: 'UNAUTHORIZED' } });
    const nothing = await tell('REJECT', runId, { approvalId: `${approvalId}0` });
    expect(nothing).toMatchObject({ answer: 'rejected', reason: { code: 'NOT_FOUND' } });
    expect(nothing).toMatchObject({ reason: { message: expect.stringContaining(`open are ${approvalId}`) } });
    const answered = await tell('ANSWER', runId, { approvalId, text: 'yes' });
    expect(answered).toMatchObject({ answer: 'rejected', reason: { code: 'INVALID_STATE' } });

    const approved = await tell('APPROVE', runId, { approvalId, note: 'looks right', grantMs: LONG_MS });
    expect(approved).toMatchObject({ answer: 'accepted' });
    const late = await tell('REJECT', runId, { approvalId: `${runId}.a.1.9.0` });
    expect(late).toMatchObject({ answer: 'rejected' });
    expect(await tell('APPROVE', runId, { approvalId })).toMatchObject({
      answer: 'ignored',
      reason: { message: expect.stringContaining('approved by alice') },
    });
    expect(await tell('REJECT', runId, { approvalId })).toMatchObject({ answer: 'accepted' });
    const { approvals } = await fold(runId);
    expect(approvals).toMatchObject([{ state: 'revoked', by: { kind: 'person', id: 'alice' } }]);
  });

  it('is a no when nobody speaks in time', async () => {
    await serveAgents();
    const runId = await accepted('expire-1', ['a']);
    await untilEvent(runId, 'TASK_STARTED');
    await ask(runId, 300);
    const { events } = await untilEvent(runId, 'APPROVAL_DECIDED');
    expect(events.at(-1)?.data).toMatchObject({ decision: 'expired', by: { kind: 'system', id: 'orchestrator' } });
  });

  it('is decided by nobody who had a part in it, but by the only approver, and roles count as they are', async () => {
    await serveAgents();
    const parent = await accepted('own-1', ['a', 'b'], [{ id: 'ab', from: 'a', to: 'b', type: 'unconditional' }]);
    await untilEvent(parent, 'TASK_STARTED');
    const answer = await tell('FORK', parent, { at: 3 });
    const runId = 'runId' in answer ? (answer.runId ?? '') : '';
    await untilEvent(runId, 'TASK_STARTED');
    const approvalId = await ask(runId, LONG_MS, 'b');
    await untilEvent(runId, 'APPROVAL_REQUESTED');
    // Two may approve, until one of them may no more: what counts is how it is now.
    const bert = await introduceWith(nc, BERT, ['approver']);
    await untilAnswer(() => tellAs(bert, 'APPROVE', runId, { approvalId: `${runId}.b.1.9.0` }), 'NOT_FOUND');
    const own = await tell('APPROVE', runId, { approvalId });
    expect(own).toMatchObject({ answer: 'rejected', reason: { code: 'UNAUTHORIZED' } });
    expect(own).toMatchObject({ reason: { message: expect.stringContaining('another person has to approve') } });
    expect(own).toMatchObject({ reason: { message: expect.stringContaining('ask bert') } });
    const stop = await tellAs(bert, 'CANCEL', runId, {});
    expect(stop).toMatchObject({ reason: { message: expect.stringContaining('CANCEL needs the role operator') } });
    const fork = await tellAs(bert, 'FORK', parent, { at: 3 });
    expect(fork).toMatchObject({ reason: { message: 'FORK needs the role operator; bert has approver' } });
    const viewer = await introduceWith(nc, BERT, ['viewer']);
    const late = () => tellAs(viewer, 'APPROVE', runId, { approvalId });
    await untilAnswer(late, 'UNAUTHORIZED', 'APPROVE needs the role approver; bert has viewer');
    const sole = await tell('APPROVE', runId, { approvalId });
    expect(sole).toMatchObject({ answer: 'accepted', detail: expect.stringContaining('one approver only') });
    expect((await fold(runId)).approvals).toMatchObject([{ state: 'approved', selfApproved: true }]);
  });
});

it('durables of a deployment that did not know of asking are mended', async () => {
  const { attempts } = partitionDurables(31);
  const jsm = await jetstreamManager(nc);
  const before = attempts.filters.filter((filter) => !filter.endsWith('.ask'));
  await jsm.consumers.update('ATTEMPTS', attempts.durable, { filter_subjects: before });
  expect((await provision(nc)).updated).toEqual([`ATTEMPTS/${attempts.durable}`]);
  const { config } = await jsm.consumers.info('ATTEMPTS', attempts.durable);
  expect(new Set(config.filter_subjects)).toEqual(new Set(attempts.filters));
});

/** Somebody says in MEMBERS that it serves agents, until the test is over. */
async function serveAgents(): Promise<void> {
  const bucket = await new Kvm(nc).open(BUCKETS.MEMBERS.bucket);
  const member = { service: 'device-agent', instance: 'test', partitions: [], running: {}, agents: ['LinuxAgent'] };
  const say = async () => {
    const value: Member = { ...member, at: new Date(now()).toISOString() };
    await bucket.put('device-agent.test', JSON.stringify(value));
  };
  await say();
  // One that is lost is followed by the next.
  agents = setInterval(() => void say().catch(() => undefined), HEARTBEAT_MS);
}

interface Answer {
  readonly runId?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

/** Partitions are served, and keys are known, within a heartbeat or two. */
const NOT_YET: ReadonlySet<string> = new Set(['TRY_AGAIN', 'UNAUTHORIZED']);

async function submit(requestId: string, ids: readonly string[], lines: readonly object[] = []): Promise<Answer> {
  const tasks = ids.map((id) => ({ id, name: id, target: { device: 'web-1' } }));
  const options = { approval: 'always', editPolicy: 'never' };
  const body = { requestId, constellation: { name: requestId, tasks, lines }, options };
  for (;;) {
    const request = await signedRequest(nc, body);
    const answer = (await nc.request(subjects.submit, request, { timeout: 10_000 })).json<Answer>();
    if (answer.error === undefined || !NOT_YET.has(answer.error.code)) return answer;
    await moment();
  }
}

/** The orchestrator hears of who serves agents with the next heartbeat. */
async function accepted(requestId: string, ids: readonly string[], lines: readonly object[] = []): Promise<string> {
  const until = now() + 60_000;
  for (;;) {
    const { runId, error } = await submit(requestId, ids, lines);
    if (runId !== undefined) return runId;
    if (now() > until) throw new Error(error?.message);
    await moment();
  }
}

async function ask(runId: string, forMs: number, taskId = 'a'): Promise<string> {
  const key = { runId, taskId, attempt: 1 };
  const data: Ask = {
    kind: 'approval',
    approvalId: commandIdOf(key, 1),
    deviceId: 'web-1',
    agent: 'LinuxAgent',
    step: 1,
    thought: '',
    plan: [],
    expiresAt: new Date(now() + forMs).toISOString(),
    command: { tool: 'NOOP', arguments: {} },
    class: 'write',
    rule: 'test',
    reasons: [],
    policyHash: 'a'.repeat(64),
    grantable: true,
  };
  const commit = sealCommit(
    {
      commit: newCommitId(now()),
      ...key,
      number: 1,
      at: new Date(now()).toISOString(),
      by: { service: 'device-agent', instance: 'test' },
      causes: [],
      events: [{ id: `${runId}-${taskId}-1`, sequence: 1, schemaVersion: 1, type: 'ATTEMPT_ASKED' as const, data }],
    },
    '0'.repeat(64),
  );
  await openAttemptLog(nc).append({ ...key, kind: 'ask' }, commit, 0);
  return data.approvalId;
}

function tellAs<V extends RunVerb>(seed: string, verb: V, runId: string, fields: VerbFields<V>) {
  return sendVerb(nc, { runId, verb, fields, seed, now });
}

/** Until the orchestrator has heard of what the bucket says; ends with the test's own limit only. */
async function untilAnswer(say: () => ReturnType<typeof sendVerb>, code: string, message = ''): Promise<void> {
  for (;;) {
    const said = await say();
    if (said.answer !== 'rejected') throw new Error(JSON.stringify(said));
    if (said.reason?.code === code && said.reason.message.includes(message)) return;
    await moment();
  }
}

function tell<V extends RunVerb>(verb: V, runId: string, fields: VerbFields<V>, who = ALICE) {
  const seed = new TextDecoder().decode(who.getSeed());
  return sendVerb(nc, { runId, verb, fields, seed, now });
}

async function fold(runId: string) {
  const run = foldRun((await openRunLog(nc).load(runId)).map(({ commit }) => commit));
  if (run === undefined) throw new Error(`there is no run ${runId}`);
  expect(checkInvariants(run)).toEqual([]);
  return viewOf(run);
}

async function untilEvent(runId: string, type: RunEventType): Promise<RunCommit> {
  for await (const entry of readCommits(nc, 'RUNS', { afterSequence: 0, filter: subjects.run(runId) })) {
    if (entry.types.includes(type)) return RunCommit.parse(JSON.parse(new TextDecoder().decode(entry.data)));
  }
  throw new Error('the stream ended');
}
