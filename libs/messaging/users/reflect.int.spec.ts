import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { keyOf, OWN_KEY } from '#libs/keys';
import { ANYBODY, notAsked, startTestBus, type TestBus } from '#libs/testing';
import { ARTIFACTS_BUCKET, STREAMS, subjects } from '#proto';
import { putArtifact } from '../artifacts/index.js';
import { serveQueries } from '../verbs/index.js';
import { natsUsers } from './nats-users.js';

/*
 * Who asks says where the answer is to go, and who answers publishes it there with rights of its own: the server of the bus all that is
 * stored, a service what it has been asked. Everybody names subjects of others.
 */

const RUN = 'run-1';
/** What a gateway asks, and nobody has to sign. */
const REVOCATIONS = subjects.query('registry', 'revocations');
const FOREIGN = [
  subjects.deviceCommand('web-1'),
  subjects.run(RUN),
  subjects.liveRun(RUN),
  subjects.attempt({ runId: RUN, taskId: 'task-1', attempt: 1 }, 'end'),
  subjects.plan(RUN),
  subjects.fleet('web-1'),
  subjects.actor('bert'),
  subjects.runDue(RUN),
  subjects.requestsOf('bert'),
  subjects.answerTo('bert', 'r'),
  subjects.accessByKey(`U${'B'.repeat(55)}`),
  subjects.output(`${RUN}.task-1.1.1`),
  subjects.query('device-agent', 'deliver'),
  REVOCATIONS,
  '$KV.ACTORS.bert',
  '$KV.SESSIONS.x',
  `$O.${ARTIFACTS_BUCKET}.C.x`,
  '_INBOX_bert.x',
];
/** What a person can have stored: the output of a command of his, say. */
const STORED = '{"after":0}';
const GET_STORED = [`$JS.API.DIRECT.GET.OBJ_${ARTIFACTS_BUCKET}`, JSON.stringify({ seq: 1 })] as const;

let bus: TestBus;
let admin: NatsConnection;
beforeAll(async () => {
  bus = await startTestBus();
  admin = await bus.as('admin');
  await putArtifact(await bus.as('device-agent'), new TextEncoder().encode(STORED));
});
afterAll(() => bus.stop());

/** What reached subjects of others as an answer, while somebody did something: an answer asks for none itself. */
async function reachedBy(doing: () => Promise<void>): Promise<string[]> {
  const found = new Set<string>();
  const listening = FOREIGN.map((foreign) =>
    admin.subscribe(foreign, {
      callback: (_, { subject, reply }) => void ((reply ?? '') === '' && found.add(subject)),
    }),
  );
  await admin.flush();
  await doing();
  await admin.flush();
  for (const one of listening) one.unsubscribe();
  return [...found];
}

/** Asks on a subject with each of these replies, and waits for the answer at an inbox of its own, which is asked for last. */
async function ask(nc: NatsConnection, subject: string, body: string, replies: readonly string[]): Promise<void> {
  for (const reply of replies) nc.publish(subject, body, { reply });
  await nc.request(subject, body, { timeout: 10_000 }).catch((error: unknown) => error);
}

const lastOf = async (stream: string): Promise<number> =>
  (await (await jetstreamManager(admin)).streams.info(stream)).state.last_seq;
const OTHERS = Object.keys(STREAMS).filter((stream) => stream !== 'ACCESS' && stream !== 'REQUESTS');

describe('an answer that was asked for', () => {
  it('by a person reaches nothing of the services: no device, no stream, no service and nobody else', async () => {
    // A service that answers wherever it is told to: the border holds alone.
    const serving = ['orrery.v.>', subjects.submit, subjects.anyVerb].map((subject) =>
      admin.subscribe(subject, { callback: (_, message) => void message.respond(STORED) }),
    );
    const lasts = () => Promise.all(OTHERS.map(lastOf));
    const before = await lasts();
    for (const { name, publish } of natsUsers().filter(({ name: user }) => ['cli', 'auditor'].includes(user))) {
      const nc = await bus.as(name);
      const key = await keyOf(bus.seedFile(name));
      const asked = publish.map((subject) => subject.replace(OWN_KEY, key).replaceAll('*', '1').replace('>', 'x'));
      const reached = await reachedBy(async () => {
        if (name === 'cli') await ask(nc, ...GET_STORED, FOREIGN);
        for (const subject of asked) await ask(nc, subject, '', FOREIGN);
      });
      expect({ name, reached }).toEqual({ name, reached: [] });
    }
    expect(await lasts()).toEqual(before);
    for (const one of serving) one.unsubscribe();
  });

  it('by a service is given to whoever waits for it, and nowhere else', async () => {
    const { seen, stop } = await registry();
    const gateway = await bus.as('aip-gateway');
    const foreign = FOREIGN.filter((subject) => subject !== REVOCATIONS && !subject.startsWith('_INBOX'));
    expect(await reachedBy(() => ask(gateway, REVOCATIONS, STORED, foreign))).toEqual([]);
    expect(seen).toEqual([0]);
    await stop();
  });

  it('is no question, wherever the server of the bus has been made to publish it', async () => {
    const { seen, stop } = await registry();
    const logging = await bus.as('logging');
    expect(await reachedBy(() => ask(logging, ...GET_STORED, [REVOCATIONS]))).toEqual([REVOCATIONS]);
    await (await bus.as('registry')).flush();
    expect(seen).toEqual([]);
    await stop();
  });
});

/** A registry, and what it was asked. */
async function registry(): Promise<{ readonly seen: readonly number[]; readonly stop: () => Promise<void> }> {
  const seen: number[] = [];
  const handlers = {
    ...notAsked('registry'),
    revocations: async ({ after }: { after: number }) => {
      seen.push(after);
      return { sequence: after, revoked: [] };
    },
  };
  const served = await serveQueries(await bus.as('registry'), 'registry', handlers, { authority: ANYBODY });
  return { seen, stop: () => served.stop() };
}
