import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { pino } from 'pino';
import { Kvm } from '@nats-io/kv';
import { BUCKETS, subjects } from '#proto';
import { openPlanLog, openRunLog, readCommits } from '#libs/event-log';
import { openPostgres, type Postgres } from '#libs/platform';
import {
  type EmbeddingsScript,
  type ModelServer,
  moment,
  startModelServer,
  startTestBus,
  startTestPostgres,
  type TestBus,
  type TestPostgres,
} from '#libs/testing';
import { openExperienceStore } from './postgres/experience-store.adapter.js';
import { learnt } from './experience-store.contract.js';
import { EXPERIENCE_MIGRATIONS, EXPERIENCE_SCHEMA, ExperienceEntity } from './postgres/experience.entity.js';
import { PlannerWorld, profileOf } from '../testing/planner-world.js';
import { plan, task } from '../testing/replies.js';
import { servePlanner } from '../testing/served.js';

const GOAL = 'Which machines are about to run out of room for files?';
/** About the same, in other words; the others have words in common with the goal, and nothing else. */
const RIGHT = learnt('right', 'Report the hosts with little free disk space', { learntAt: '2026-11-01T00:00:00.000Z' });
const WRONG = [
  'Which machines are about to be retired?',
  'Which machines run out of date packages?',
  'Move all machines to another room',
  'Which files are about to expire?',
].map((request, at) => learnt(`wrong${at}`, request));
const isAboutSpace = (text: string): boolean => /room for files|disk space/u.test(text);
const points: EmbeddingsScript = ({ body }) =>
  body.input.map((text) => (isAboutSpace(text) ? [1, 0.1, 0] : [0, 0.1, 1]));

const said: { readonly msg: string }[] = [];
const logger = pino(
  { level: 'warn' },
  { write: (line: string) => void said.push(JSON.parse(line) as { msg: string }) },
);
const stop = new AbortController();
const closing: (() => Promise<unknown>)[] = [];
let bus: TestBus;
let nc: NatsConnection;
let database: TestPostgres;
let postgres: Postgres;
let endpoint: ModelServer;

beforeAll(async () => {
  // One after the other: the server of the bus waits only so long for its client to say who it is.
  database = await startTestPostgres();
  endpoint = await startModelServer();
  bus = await startTestBus();
  nc = await bus.as('admin');
  const profiles = await new Kvm(nc).open(BUCKETS.AGENT_PROFILES.bucket);
  await profiles.put('web-1', JSON.stringify(profileOf('web-1')));
  const schema = { schema: EXPERIENCE_SCHEMA, entities: [ExperienceEntity], migrations: EXPERIENCE_MIGRATIONS };
  postgres = await openPostgres({ url: database.url, ...schema, logger, signal: stop.signal });
  for (const one of [RIGHT, ...WRONG]) await openExperienceStore(await ready(postgres)).add(one);
});
beforeEach(() => void said.splice(0));
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});
afterAll(async () => {
  stop.abort();
  await postgres?.onApplicationShutdown();
  await endpoint?.stop();
  await bus?.stop();
  await database?.stop();
});

async function ready(server: Postgres): Promise<Postgres> {
  await server.ready();
  return server;
}

/** A planner with its real adapters, as it is configured by its environment. */
async function planner(instance: string): Promise<void> {
  const environment = { OPENAI_BASE_URL: endpoint.url, ORRERY_MODEL: 'scripted', ORRERY_EMBEDDING_MODEL: 'points' };
  const nc = await bus.as('planner');
  const started = await servePlanner({ nc, instance, environment, experiences: openExperienceStore(postgres), logger });
  closing.push(() => started.stop());
}

/** The examples that the plan for the goal was shown. */
async function examplesOf(runId: string): Promise<readonly string[]> {
  const world = new PlannerWorld([], runId);
  world.now = Date.now();
  await openRunLog(nc).append(runId, await world.submit(GOAL), 0);
  for await (const { subject } of readCommits(nc, 'PLANS', { afterSequence: 0 })) {
    if (subject === subjects.plan(runId)) break;
  }
  const [first] = await openPlanLog(nc).load(runId);
  const planned = first?.commit.events[0];
  if (planned?.type !== 'ROUND_PLANNED') throw new Error(`no plan was made: ${JSON.stringify(planned)}`);
  expect(JSON.stringify(first)).not.toContain('points');
  return planned.data.examples ?? [];
}

async function embedded(): Promise<number> {
  const source = await postgres.ready();
  const rows = await source.query<unknown[]>(`select 1 from planner.experience where embedding_model = 'points/3'`);
  return rows.length;
}

describe('examples for a goal that says it in other words', () => {
  beforeEach(() => {
    const reply = plan([task('a')]);
    endpoint.reply(() => {
      if (typeof reply === 'string' || !('json' in reply)) throw new Error('no reply');
      return { json: reply.json };
    });
  });

  it('are chosen by words alone, and wrongly, while the endpoint is away, which is said once', async () => {
    endpoint.embed(() => ({ fault: 'reset' }));
    await planner('i1');
    expect(await examplesOf('run-words')).not.toContain('right');
    expect(await examplesOf('run-words-too')).not.toContain('right');
    const warnings = () =>
      said.filter(({ msg }) => msg === 'examples are found by their words alone: there are no embeddings').length;
    // A plan does not wait until the endpoint is given up, so the warning may come after it.
    while (warnings() === 0) {
      expect(await embedded()).toBe(0);
      await moment();
    }
    expect([warnings(), await embedded()]).toEqual([1, 0]);
  });

  it('are chosen by what they are about as soon as there are embeddings, with no key and no vector in an event', async () => {
    endpoint.embed(points);
    await planner('i2');
    while ((await embedded()) < 1 + WRONG.length) await moment();
    // A machine may be too slow for the time that a plan waits for an embedding; the next plan tries again.
    for (let at = 0; !(await examplesOf(`run-meaning-${at}`)).includes('right'); at++);
  });
});
