import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { headers, type NatsConnection } from '@nats-io/transport-node';
import {
  DeadLetter,
  HEADER_TYPES,
  partitionDurables,
  partitionOf,
  RunCommit,
  type RunEventType,
  subjects,
} from '#proto';
import { foldRun, viewOf } from '#libs/constellation';
import { openRunLog, readCommits } from '#libs/event-log';
import { connectBus, Members, query } from '#libs/messaging';
import { systemClock } from '#libs/platform';
import {
  asksAs,
  connectDevice,
  instantDevice,
  moment,
  type Replica,
  requestRun,
  startTestNats,
  type TestNats,
} from '#libs/testing';
import { startOrchestrator } from './rig.testing.js';
import { evaluated, failed, planned, PlannerHand, proposed, USED } from './plans.testing.js';

let nats: TestNats;
let nc: NatsConnection;
let orchestrator: Replica;
let planner: Members;
let hand: PlannerHand;
let device: { stop(): void } | undefined;

beforeAll(async () => {
  nats = await startTestNats({ provisioned: true });
  nc = await connectBus({ url: nats.url, name: 'test', inboxPrefix: '_INBOX_test' });
  await asksAs(nc);
  await connectDevice(nc, 'web-1');
  planner = new Members(nc, {
    service: 'planner',
    instance: 'one',
    clock: systemClock,
    changed: () => undefined,
  });
  planner.begin();
  hand = new PlannerHand(nc);
  orchestrator = await start('one');
});

afterEach(() => device?.stop());

afterAll(async () => {
  await orchestrator.stop();
  await planner.end();
  await nc.close();
  await nats.stop();
});

async function start(instance: string): Promise<Replica> {
  const one = await startOrchestrator(nc, { instance, planApproval: 'as-requested' });
  return one;
}

describe('what the planner writes into PLANS', () => {
  it('becomes an edit of its run that names the chain it comes from; delivered again it appends nothing', async () => {
    device = instantDevice(nc);
    const runId = await submit('plan-1');
    const { hash } = await hand.write(runId, planned(), proposed({}, 'a', 'b'));
    const { events, causes } = await untilEvent(runId, 'CONSTELLATION_MODIFIED');
    expect(events.find(({ type }) => type === 'CONSTELLATION_MODIFIED')?.data).toMatchObject({
      planHash: hash,
      source: 'model',
      judgeCommands: true,
      used: USED,
      proposedBy: { kind: 'system', id: 'planner' },
    });
    expect(causes).toEqual([{ kind: 'plan', id: 'e1.1' }]);
    await untilEvent(runId, 'EDIT_OPENED', 2);
    const before = (await openRunLog(nc).load(runId)).length;
    const last = await jetstreamManager(nc).then((jsm) =>
      jsm.streams.getMessage('PLANS', { last_by_subj: subjects.plan(runId) }),
    );
    await query(nc, 'orchestrator', 'dlq-retry', { stream: 'PLANS', sequence: last?.seq ?? 0 });
    expect((await openRunLog(nc).load(runId)).length).toBe(before);
    await hand.write(runId, proposed({ editId: 'e2', state: 'FINISH', answer: { text: 'both', evidence: ['a'] } }));
    await untilEvent(runId, 'RUN_COMPLETED');
    expect(await view(runId)).toMatchObject({ outcome: 'succeeded', answer: { text: 'both', by: 'model' } });
  });

  it('ends a run that no plan can be made for, and says why', async () => {
    const runId = await submit('plan-2');
    const message = 'No model is configured and no runbook fits; set OPENAI_BASE_URL and ORRERY_MODEL.';
    await hand.write(runId, failed(message));
    const { events } = await untilEvent(runId, 'RUN_FAILED');
    expect(events.at(-1)?.data).toMatchObject({ reason: { code: 'PLAN_FAILED', message } });
  });

  it('is added to a run that is over, once: what the evaluation agent says of it', async () => {
    device = instantDevice(nc);
    const runId = await submitTasks('plan-3');
    await untilEvent(runId, 'RUN_COMPLETED');
    const { hash } = await hand.write(runId, evaluated('it looked at everything'));
    const { events } = await untilEvent(runId, 'RUN_ANNOTATED');
    expect(events.map(({ data }) => data)).toMatchObject([
      { kind: 'evaluation', evaluation: { reason: 'it looked at everything' }, planHash: hash },
    ]);
    await hand.write(runId, evaluated('it looked at nothing'));
    await untilSettled(runId);
    expect(await view(runId)).toMatchObject({
      status: 'COMPLETED',
      evaluation: { reason: 'it looked at everything', complete: 'yes' },
    });
  });

  it('is passed over unread where it says nothing to the run, and buried where it cannot be read', async () => {
    const runId = 'nonsense-1';
    const publish = async (types: string) => {
      const header = headers();
      header.set(HEADER_TYPES, types);
      return jetstream(nc).publish(subjects.plan(runId), 'nonsense', { headers: header });
    };
    await publish('ROUND_PLANNED,RUN_SUMMARISED');
    const bad = await publish('PLAN_PROPOSED');
    const letters = readCommits(nc, 'DLQ', { afterSequence: 0 });
    for await (const { data } of letters) {
      const letter = DeadLetter.parse(JSON.parse(new TextDecoder().decode(data)));
      expect(letter).toMatchObject({ stream: 'PLANS', sequence: bad.seq, service: 'orchestrator' });
      break;
    }
    await untilSettled(runId);
  });

  it('is taken by the next replica when the one before has died with it', async () => {
    const runId = await submit('plan-4');
    await orchestrator.stop();
    const { hash } = await hand.write(runId, planned(), proposed({}, 'a'));
    orchestrator = await start('two');
    const { events } = await untilEvent(runId, 'CONSTELLATION_MODIFIED');
    expect(events.find(({ type }) => type === 'CONSTELLATION_MODIFIED')?.data).toMatchObject({ planHash: hash });
  });
});

describe('where an operator wants to see every plan', () => {
  it('the plan of a goal waits for a person although its request does not ask for that; a constellation does not', async () => {
    device = instantDevice(nc);
    await orchestrator.stop();
    orchestrator = await startOrchestrator(nc, { instance: 'three', planApproval: 'required' });
    const runId = await submit('plan-5');
    await hand.write(runId, proposed({}, 'a'));
    const { events } = await untilEvent(runId, 'RUN_PAUSED');
    expect(events.at(-1)?.data).toMatchObject({ by: 'system', waitsFor: 'plan_approval' });
    expect(await view(runId)).toMatchObject({
      status: 'PAUSED',
      waitingFor: { reason: 'approval', wokenBy: 'operator' },
      tasks: [{ id: 'a', status: 'PENDING' }],
    });
    // The hash is the one of the request as it came: sent again it is the same request.
    expect(await submit('plan-5')).toBe(runId);
    await untilEvent(await submitTasks('plan-6'), 'RUN_COMPLETED');
  });
});

const submit = (requestId: string) => requestRun(nc, { requestId, goal: `do ${requestId}` });

function submitTasks(requestId: string): Promise<string> {
  const tasks = [{ id: 'a', name: 'a', target: { device: 'web-1' }, command: { tool: 'NOOP' } }];
  return requestRun(nc, { requestId, constellation: { name: requestId, tasks } });
}

async function view(runId: string) {
  const run = foldRun((await openRunLog(nc).load(runId)).map(({ commit }) => commit));
  if (run === undefined) throw new Error(`there is no run ${runId}`);
  return viewOf(run);
}

/** The commit with the n-th event of a type. */
async function untilEvent(runId: string, type: RunEventType, nth = 1): Promise<RunCommit> {
  let seen = 0;
  for await (const entry of readCommits(nc, 'RUNS', { afterSequence: 0, filter: subjects.run(runId) })) {
    if (entry.types.includes(type) && ++seen === nth)
      return RunCommit.parse(JSON.parse(new TextDecoder().decode(entry.data)));
  }
  throw new Error('the stream ended');
}

/** Everything that was written for the run is acknowledged. */
async function untilSettled(runId: string): Promise<void> {
  const jsm = await jetstreamManager(nc);
  const { stream, durable } = partitionDurables(partitionOf(runId)).plans;
  for (;;) {
    const { num_pending: pending, num_ack_pending: unsettled } = await jsm.consumers.info(stream, durable);
    if (pending === 0 && unsettled === 0) return;
    await moment();
  }
}
