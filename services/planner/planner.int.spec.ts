import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { BUCKETS, subjects, type PlanCommit, type RunCommit } from '#proto';
import { openPlanLog, openRunLog, readCommits, verifyChain, type Stored } from '#libs/event-log';
import { getArtifact, query, readMembers } from '#libs/messaging';
import { Metrics, ServicePorts } from '#libs/platform';
import {
  type ModelServer,
  moment,
  type Replica,
  startModelServer,
  startTestBus,
  type TestBus,
  valueOf,
} from '#libs/testing';
import { PlannerWorld, profileOf, RUN_ID } from './testing/planner-world.js';
import { plan, task } from './testing/replies.js';
import { servePlanner, type ServedPlanner } from './testing/served.js';

let bus: TestBus;
let nc: NatsConnection;
let model: ModelServer;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  [bus, model] = await Promise.all([startTestBus(), startModelServer()]);
  nc = await bus.as('admin');
  const profiles = await new Kvm(nc).open(BUCKETS.AGENT_PROFILES.bucket);
  await profiles.put('web-1', JSON.stringify(profileOf('web-1')));
});

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

afterAll(async () => {
  await model.stop();
  await bus.stop();
});

/** A planner with the rights of its service only, and the prompts and runbooks of this installation. */
async function planner(instance: string, change: Partial<ServedPlanner> = {}): Promise<Replica> {
  const environment = { OPENAI_BASE_URL: model.url, ORRERY_MODEL: 'scripted', OPENAI_API_KEY: 'k' };
  const started = await servePlanner({ nc: await bus.as('planner'), instance, environment, ...change });
  closing.push(() => started.stop());
  return started;
}

/** Puts what an orchestrator would have written into the log; every run has an id of its own. */
async function request(goal: string, runId: string): Promise<RunCommit> {
  const world = new PlannerWorld([], runId);
  world.now = Date.now();
  const commit = await world.submit(goal);
  await openRunLog(nc).append(runId, commit, 0);
  return commit;
}

async function plansOf(runId: string): Promise<Stored<PlanCommit>[]> {
  for await (const entry of readCommits(nc, 'PLANS', { afterSequence: 0 })) {
    if (entry.subject === subjects.plan(runId)) break;
  }
  return openPlanLog(nc).load(runId);
}

const jsonOf = (reply: ReturnType<typeof plan>) => {
  if (typeof reply === 'string' || !('json' in reply)) throw new Error('no reply');
  return { json: reply.json };
};

describe('a planner on a real server', () => {
  it('makes a plan of a goal with a real client of models, and stores the reply with the proposal', async () => {
    await planner('i1');
    model.queue('Certainly!', jsonOf(plan([task('a')])));
    const commit = await request('look after the disks', 'run-model');
    const stored = await plansOf('run-model');
    const [first] = stored;
    expect(first?.commit.events.map(({ type }) => type)).toEqual(['ROUND_PLANNED', 'PLAN_PROPOSED']);
    expect(first?.commit).toMatchObject({
      number: 1,
      by: { service: 'planner', instance: 'i1' },
      causes: [{ kind: 'run', id: commit.commit }],
    });
    expect(verifyChain(stored.map(({ commit: one }) => one))).toEqual([]);
    const recorded = first?.commit.events[0];
    if (recorded?.type !== 'ROUND_PLANNED') throw new Error('no plan');
    expect(recorded.data.calls.map(({ problems }) => problems.length > 0)).toEqual([true, false]);
    expect(recorded.data.templates.map(({ id }) => id)).toContain('planner/creation');
    const prompt = await getArtifact(nc, recorded.data.calls[0]?.prompt?.sha256 ?? '');
    expect(Buffer.from(prompt).toString()).toMatch(/look after the disks[\s\S]*web-1/u);
    const proposed = first?.commit.events[1];
    expect(proposed?.data).toMatchObject({
      source: 'model',
      used: { llmCalls: 2 },
      proposal: { editId: 'e1', try: 1 },
    });
  });

  it('plans with a runbook without any model, and says so before', async () => {
    await planner('i2', { kit: { model: null } });
    const asked = model.requests.length;
    expect(await query(nc, 'planner', 'match', { goal: 'fleet-health' })).toMatchObject({
      kind: 'runbook',
      name: 'fleet-health',
    });
    await request('fleet-health', 'run-runbook');
    const [first] = await plansOf('run-runbook');
    expect(first?.commit.events[1]?.data).toMatchObject({ source: 'runbook', used: { llmCalls: 0 } });
    await request('write me a poem', 'run-none');
    const [none] = await plansOf('run-none');
    expect(none?.commit.events[0]).toMatchObject({ type: 'ROUND_FAILED', data: { error: { code: 'NO_MODEL' } } });
    expect(model.requests).toHaveLength(asked);
  });

  it('says that it is there for as long as it is', async () => {
    const serving = await planner('i3');
    const instances = async () => (await readMembers(nc, 'planner')).map(({ instance }) => instance);
    let there = await instances();
    for (; there.length === 0; there = await instances()) await moment();
    expect(there).toEqual(['i3']);
    await serving.stop();
    expect(await instances()).toEqual([]);
  });

  it('lists its runbooks, and answers to people it knows only where something is learnt or judged', async () => {
    await planner('i4');
    const { runbooks, problems } = await query(nc, 'planner', 'runbooks', {});
    expect(runbooks.length).toBeGreaterThan(0);
    expect(problems).toEqual([]);
    expect(await query(nc, 'planner', 'experiences', {})).toEqual({ enabled: false, experiences: [] });
    await expect(query(nc, 'planner', 'forget', { id: 'x1' })).rejects.toThrow('ORRERY_EXPERIENCE=on');
    const signer = { seed: await bus.seedOf('external'), now: Date.now };
    await expect(query(nc, 'planner', 'learn', { runId: RUN_ID }, { signer })).rejects.toMatchObject({
      refusal: { code: 'UNAUTHORIZED', message: 'planner.learn needs the role operator; external has requester.' },
    });
  });

  it('serves the Constellation MCP server where it is told to', async () => {
    const seed = await bus.seedOf('planner');
    const { mcp } = (await planner('i5', { seed })).get(ServicePorts).all();
    const answer = await fetch(`http://127.0.0.1:${mcp}/mcp/run-model`, { method: 'POST', body: '{}' });
    expect(answer.status).toBe(401);
  });

  it('leaves a question to the next replica when it stops', async () => {
    const first = await planner('i6');
    model.queue({ fault: 'hang' }, jsonOf(plan([task('a')])));
    const asked = model.requests.length;
    await request('look after the disks', 'run-left');
    await model.asked(asked + 1);
    expect(valueOf(await first.get(Metrics).text(), 'orrery_planner_rounds_live')).toBe(1);
    const stopped = first.stop();
    await planner('i7');
    const [commit] = await plansOf('run-left');
    expect(commit?.commit.by.instance).toBe('i7');
    await stopped;
  });
});
