import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AckPolicy, DeliverPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { createUser, type KeyPair } from '@nats-io/nkeys';
import { connect, nkeyAuthenticator, PermissionViolationError, type NatsConnection } from '@nats-io/transport-node';
import { withOwnSubjects } from '#libs/keys';
import type { NatsUser } from '#libs/embedded';
import { startTestNats, type TestNats } from '#libs/testing';
import { feedDurable, STREAMS, subjects } from '#proto';
import { provisionDurable } from '../streams/index.js';
import { outsideUser } from './outside.js';
import { peopleUsers } from './people-users.js';

/* Two systems outside, which never heard of each other, and one that its server lets do everything inside of its own account. */

const CONNECTIONS = 3;
const ATTACKS = '>';
const keys = { crm: createUser(), billing: createUser(), pirate: createUser(), services: createUser() };
type Name = keyof typeof keys;
const RUN = 'run-1';

let server: TestNats;
/** Everything inside: orchestrator, registry and logging in one. */
let inside: NatsConnection;
let crm: NatsConnection;
let billing: NatsConnection;
const open: NatsConnection[] = [];

const as = async (name: Name): Promise<NatsConnection> => {
  const nc = await connect({
    servers: server.url,
    authenticator: nkeyAuthenticator(keys[name].getSeed()),
    inboxPrefix: `_INBOX_${publicKey(keys[name])}`,
    reconnect: false,
  });
  open.push(nc);
  return nc;
};
const publicKey = (key: KeyPair): string => key.getPublicKey();

beforeAll(async () => {
  const services: NatsUser = {
    name: 'services',
    nkeyPublic: publicKey(keys.services),
    publish: ['>'],
    subscribe: ['>'],
  };
  const people = peopleUsers([
    { id: 'crm', kind: 'external', key: publicKey(keys.crm), connections: CONNECTIONS },
    { id: 'billing', kind: 'system', key: publicKey(keys.billing) },
  ]);
  // The border holds alone: this one has no permissions that would hold it.
  const nothingHeld = { publish: [ATTACKS], subscribe: [ATTACKS], allowResponses: true };
  const pirate = { ...outsideUser('pirate'), ...nothingHeld, name: 'pirate', nkeyPublic: publicKey(keys.pirate) };
  server = await startTestNats({ users: [services, ...people, withOwnSubjects(pirate)], provisioned: true });
  inside = await as('services');
  for (const id of ['crm', 'billing', 'pirate']) await provisionDurable(inside, feedDurable(id));
  [crm, billing] = await Promise.all([as('crm'), as('billing')]);
});
afterAll(async () => {
  for (const nc of open) await nc.close();
  await server.stop();
});

/** What one subscription has heard by the time that both sides have seen everything before. */
async function heard(nc: NatsConnection, subject: string, doing: () => void | Promise<void>): Promise<string[]> {
  const found: string[] = [];
  const listening = nc.subscribe(subject, { callback: (error, { subject: on }) => void (error ?? found.push(on)) });
  await nc.flush();
  await doing();
  for (const one of [inside, crm, billing, nc]) await one.flush();
  listening.unsubscribe();
  return found;
}

async function violationOf(nc: NatsConnection, act: (nc: NatsConnection) => void): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const statuses = nc.status();
  const listen = async (): Promise<void> => {
    for await (const status of statuses) if (status.type === 'error') return resolve(status.error);
  };
  void listen();
  act(nc);
  return promise;
}

const happened = (runId: string, owner: string, text: string) =>
  jetstream(inside).publish(subjects.feed(runId, 'TASK_STARTED', owner), text);
const follower = (nc: NatsConnection, of: string) =>
  jetstream(nc, { domain: 'orrery' }).consumers.get('FEED', feedDurable(of).durable);

describe('a system outside', () => {
  it('asks in its own name, with a receipt, and hears its own answers only', async () => {
    const { stream } = await jetstream(crm).publish(subjects.requestsOf('crm'), '{}');
    expect(stream).toBe('REQUESTS');
    const answers = (id: string) =>
      heard(crm, subjects.answersTo('crm'), () => inside.publish(subjects.answerTo(id, 'r')));
    expect([await answers('crm'), await answers('billing')]).toEqual([[subjects.answerTo('crm', 'r')], []]);
    const serving = inside.subscribe(subjects.submit, { callback: (_, message) => void message.respond('yes') });
    await inside.flush();
    expect((await crm.request(subjects.submit, '{}')).string()).toBe('yes');
    serving.unsubscribe();
  });

  it('follows the feed of its own runs, told by the server how far it is, and no other', async () => {
    await happened('of-crm', 'crm', 'one');
    await happened('of-billing', 'billing', 'secret');
    await happened('of-crm', 'crm', 'two');
    const got: string[] = [];
    for (let index = 0; index < 2; index++) {
      const message = await (await follower(crm, 'crm')).next({ expires: 5_000 });
      expect(await message?.ackAck()).toBe(true);
      got.push(message?.string() ?? '');
    }
    expect(got).toEqual(['one', 'two']);
    const left = await jetstreamManager(inside).then((jsm) => jsm.consumers.info('FEED', feedDurable('crm').durable));
    expect([left.num_pending, left.num_ack_pending]).toEqual([0, 0]);
  });

  it.each<[string, (nc: NatsConnection) => unknown]>([
    ['ask in the name of another', (nc) => nc.publish(subjects.requestsOf('billing'))],
    ['ask as the first external system', (nc) => nc.publish(subjects.requests)],
    ['hear the answers of another', (nc) => nc.subscribe(subjects.answersTo('billing'))],
    ['hear all answers', (nc) => nc.subscribe(subjects.anyAnswerTo)],
    ['hear runs', (nc) => nc.subscribe(subjects.anyLiveRun)],
    ['hear that something was stored', (nc) => nc.subscribe('orrery.live.>')],
    ['order a verb', (nc) => nc.publish(subjects.verb(RUN, 'CANCEL'))],
    ['ask a service', (nc) => nc.publish(subjects.query('logging', 'runs'))],
    ['write a run', (nc) => nc.publish(subjects.run(RUN))],
    ['order a device', (nc) => nc.publish(subjects.deviceCommand('web-1'))],
    ['read a stream', (nc) => nc.publish('$JS.API.DIRECT.GET.RUNS')],
    ['take from the durable of another', (nc) => nc.publish(`$JS.orrery.API.CONSUMER.MSG.NEXT.FEED.external-billing`)],
    ['acknowledge for another', (nc) => nc.publish('$JS.ACK.FEED.external-billing.1.1.1.1.1')],
    ['make a consumer', (nc) => nc.publish('$JS.orrery.API.CONSUMER.CREATE.FEED.external-crm.orrery.feed.>')],
    ['delete its durable', (nc) => nc.publish('$JS.orrery.API.CONSUMER.DELETE.FEED.external-crm')],
  ])('cannot %s: its server says so', async (_, act) => {
    expect(await violationOf(crm, (nc) => void act(nc))).toBeInstanceOf(PermissionViolationError);
  });

  it('is closed with the connection that is too many, whoever else is connected', async () => {
    const more: NatsConnection[] = [];
    while (more.length < CONNECTIONS - 1) more.push(await as('crm'));
    const tooMany = await as('crm').then(
      (nc) => nc.closed().then(() => 'closed'),
      () => 'refused',
    );
    expect(['closed', 'refused']).toContain(tooMany);
    for (const nc of [crm, billing, ...more]) await nc.flush();
    await Promise.all(more.map((nc) => nc.close()));
  });
});

describe('the border', () => {
  let pirate: NatsConnection;
  beforeAll(async () => {
    pirate = await as('pirate');
  });

  it('lets nothing through but its own, whatever the user may do', async () => {
    const subjectsOfAll = [
      ...Object.values(STREAMS).flatMap(({ subjects: all }): readonly string[] => all),
      subjects.anyVerb,
      subjects.anyQuery,
      subjects.anyDeviceCommand,
      subjects.anyAnswerTo,
      '$KV.ACTORS.>',
    ].map((subject) => subject.replaceAll('*', 'x').replace('>', 'x.y'));
    const ours = [subjects.requestsOf('pirate'), subjects.submit];
    const crossed = await heard(inside, 'orrery.>', () => {
      for (const subject of [...subjectsOfAll, subjects.requestsOf('crm'), ...ours]) pirate.publish(subject, '{}');
      return pirate.flush();
    });
    expect(crossed.toSorted()).toEqual(ours.toSorted());
    const jsm = await jetstreamManager(pirate, { checkAPI: false, timeout: 1_000 });
    await expect(jsm.streams.info('RUNS')).rejects.toThrow();
    const own = await jetstreamManager(pirate, { checkAPI: false, apiPrefix: '$JS.orrery.API', timeout: 1_000 });
    expect((await own.consumers.info('FEED', 'external-pirate')).name).toBe('external-pirate');
    await expect(own.consumers.info('FEED', 'external-crm')).rejects.toThrow();
    const pushing = {
      deliver_subject: 'orrery.device.web-1.command',
      ack_policy: AckPolicy.None,
      deliver_policy: DeliverPolicy.All,
    };
    await expect(own.consumers.add('FEED', { name: 'mine', ...pushing })).rejects.toThrow();
    await expect(own.consumers.delete('FEED', 'external-pirate')).rejects.toThrow();
  });

  it('keeps what others are told', async () => {
    const told = await heard(pirate, '>', async () => {
      for (const subject of [subjects.answerTo('crm', 'r'), subjects.answer('r'), subjects.liveRun(RUN)])
        inside.publish(subject, 'secret');
      await happened('of-crm', 'crm', 'secret');
    });
    expect(told).toEqual([]);
  });

  it.each([
    ['an answer', subjects.submit],
    ['a receipt', subjects.requestsOf('pirate')],
    ['an event', '$JS.orrery.API.CONSUMER.MSG.NEXT.FEED.external-pirate'],
  ])('brings back %s to nobody else, wherever it is to go', async (_, asked) => {
    await happened('of-pirate', 'pirate', 'event');
    const serving = inside.subscribe(subjects.submit, { callback: (_error, message) => void message.respond('{}') });
    await inside.flush();
    const goals = [subjects.requestsOf('crm'), subjects.deviceCommand('web-1'), subjects.answerTo('crm', 'r')];
    const crossed = await heard(inside, 'orrery.>', async () => {
      for (const reply of goals) pirate.publish(asked, '{}', { reply });
      // What comes back the right way comes behind what does not.
      await pirate.request(subjects.submit, '{}');
    });
    expect(crossed.filter((subject) => goals.includes(subject))).toEqual([]);
    serving.unsubscribe();
  });
});
