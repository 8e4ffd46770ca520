import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { ChaosProxy, startTestBus, startTestPostgres, type TestBus, type TestPostgres } from '#libs/testing';
import { BUCKETS, subjects } from '#proto';
import { until } from '../rig.testing.js';
import { askAs, newSeed, publicKeyOf, shown, typesOf } from './people.testing.js';

/* A registry is killed in the middle of a command, at what it says to the server: what is a fact is everything that is left of it. */

const SERVICES = resolve('dist/services');
const CRM = 'crm';
const OF_CRM = subjects.feedOf(CRM);
const key = publicKeyOf(newSeed());
let bus: TestBus;
let database: TestPostgres;
let proxy: ChaosProxy;
let admin: NatsConnection;
let cli: string;
let running: ChildProcess;
let ids = 0;
/** Commands whose registry was killed: who waits gives up, or hears of the next one what was decided. */
const unanswered: Promise<unknown>[] = [];

beforeAll(async () => {
  [bus, database] = await Promise.all([startTestBus(), startTestPostgres()]);
  proxy = await ChaosProxy.start(bus.server.url);
  admin = await bus.as('admin');
  cli = await bus.seedOf('cli');
  await start();
});
afterAll(async () => {
  await kill();
  await proxy.close();
  await database.stop();
  await bus.stop();
  for (const asked of unanswered) {
    const answer = await asked;
    if (!(answer instanceof Error)) expect(answer).toEqual({ changed: true });
  }
});

/** Resolves when it is ready. It ends with this process, however that ends. */
async function start(): Promise<void> {
  running = fork(resolve(SERVICES, 'registry/main.js'), {
    execArgv: ['--import', resolve(SERVICES, 'cli/processes/end-with-supervisor.runner.js')],
    env: {
      ORRERY_LOG_LEVEL: 'silent',
      ORRERY_ALLOW_UNSAFE_LOG: '1',
      ORRERY_DATABASE_URL: database.url,
      ORRERY_NATS_URL: proxy.url,
      ORRERY_NATS_SEED_FILE: bus.seedFile('registry'),
      NODE_COMPILE_CACHE: resolve('.cache/node-compile'),
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  await once(running, 'message');
}

async function kill(): Promise<void> {
  const ended = once(running, 'exit');
  running.kill('SIGKILL');
  await ended;
}

interface Command {
  readonly order: Parameters<typeof askAs>[2];
  readonly body: object;
}

/** The registry is killed when it has said this in the middle of the command, and does not know whether it has arrived. What comes back sends the command again. */
async function killedAt(said: string, { order, body }: Command): Promise<() => Promise<unknown>> {
  const command = { id: `command-${ids++}`, ...body };
  const reached = proxy.deafAfter(said);
  const asked = askAs(await bus.as('cli'), cli, order, command);
  unanswered.push(asked.catch((error: unknown) => error));
  await Promise.race([reached, asked.then(() => Promise.reject(new Error('it was answered')))]);
  await kill();
  proxy.release('down');
  return async () => askAs(await bus.as('cli'), cli, order, command);
}

/** What crm may follow; undefined while there is no durable for it. */
async function followed(): Promise<string | undefined> {
  const jsm = await jetstreamManager(admin);
  for await (const { name, config } of jsm.consumers.list('FEED'))
    if (name === `external-${CRM}`) return config.filter_subject;
  return undefined;
}

const facts = () => typesOf(admin, CRM);
const entry = () => shown(admin, CRM);
const FACT = `PUB ${subjects.actor(CRM)} `;
const PROJECTED = `PUB $KV.${BUCKETS.ACTORS.bucket}.${CRM} `;

it('between the fact of a first key and what follows from it: the next one shows the key and makes the durable', async () => {
  await askAs(await bus.as('cli'), cli, 'people-add', {
    id: 'crm',
    actorId: CRM,
    kind: 'external',
    roles: ['requester'],
  });
  const again = await killedAt(FACT, { order: 'people-key', body: { actorId: CRM, change: 'add', key } });
  expect([await facts(), (await entry())?.keys, await followed()]).toEqual([
    ['ACTOR_ADDED', 'KEY_ADDED'],
    [],
    undefined,
  ]);
  await start();
  expect(await again()).toEqual({ changed: true });
  expect([await facts(), (await entry())?.keys, await followed()]).toEqual([
    ['ACTOR_ADDED', 'KEY_ADDED'],
    [expect.objectContaining({ key })],
    OF_CRM,
  ]);
});

it('when limits are shown, and before its durable has them: the next one changes that, also when nobody asks again', async () => {
  await killedAt(PROJECTED, { order: 'people-limits', body: { actorId: CRM, given: { feed: 'all', openRuns: 5 } } });
  expect([(await facts()).at(-1), await followed()]).toEqual(['LIMITS_GIVEN', OF_CRM]);
  await start();
  await until(followed, (filter) => filter === subjects.anyFeed);
  expect((await entry())?.limits).toEqual({ feed: 'all', openRuns: 5 });
});

it('between the fact of an approval that stands and who is to know it: it counts from the next start on, once', async () => {
  const approval = {
    contentHash: 'c'.repeat(64),
    about: { name: 'nightly' },
    expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
  };
  const again = await killedAt(`PUB ${subjects.actor('cli')} `, { order: 'content-approve', body: approval });
  const before = await typesOf(admin, 'cli');
  expect([before.at(-1), (await shown(admin, 'cli'))?.approvals ?? []]).toEqual(['CONTENT_APPROVED', []]);
  await start();
  expect(await again()).toEqual({ changed: true });
  expect(await typesOf(admin, 'cli')).toEqual(before);
  expect((await shown(admin, 'cli'))?.approvals).toMatchObject([{ contentHash: approval.contentHash }]);
});
