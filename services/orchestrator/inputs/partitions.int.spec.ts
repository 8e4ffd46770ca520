import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { pino } from 'pino';
import { partitionOf, type RunId, subjects } from '#proto';
import { newCommitId, openAttemptLog, sealCommit } from '#libs/event-log';
import { connectBus, provision } from '#libs/messaging';
import { startTestNats, type TestNats } from '#libs/testing';
import { PartitionsConsumer } from './partitions.consumer.js';
import type { RunServer, Waiting } from '../runs/run-server.handler.js';
import type { SubmitHandler } from './submit.handler.js';
import type { VerbsHandler } from './verbs.handler.js';

const AT = '2026-01-01T00:00:00.000Z';
const LOST: RunId = 'run-1';
const GAINED: RunId = 'run-2';

let nats: TestNats;
let nc: NatsConnection;

beforeAll(async () => {
  nats = await startTestNats();
  nc = await connectBus({ url: nats.url, name: 'test', inboxPrefix: '_INBOX_test' });
  await provision(nc);
});

afterAll(async () => {
  await nc.close();
  await nats.stop();
});

it('a partition that is gained is served at once, although a lost one still has an input in work', async () => {
  expect(partitionOf(LOST)).not.toBe(partitionOf(GAINED));
  const { consumer, delivered, forgotten } = setUp();
  await consumer.serve(new Set([partitionOf(LOST)]));
  await endAttempt(LOST);
  const inWork = await delivered;

  const changed = consumer.serve(new Set([partitionOf(GAINED)]));
  await nc.flush();
  const reply = await nc.request(subjects.verb(GAINED, 'NOTHING'), '{}');
  expect(reply.json()).toMatchObject({ answer: 'rejected' });
  expect([consumer.owns(LOST), consumer.owns(GAINED), forgotten]).toEqual([false, true, [LOST]]);

  inWork.settle({ kind: 'answered', answer: { kind: 'accepted' }, sequence: 1 });
  await changed;
  await consumer.serve(new Set());
});

/** A consumer over a server that keeps what it is given, and settles it when the test says so. */
function setUp() {
  const { promise: delivered, resolve } = Promise.withResolvers<Waiting>();
  const forgotten: RunId[] = [];
  const server: Pick<RunServer, 'deliver' | 'drop'> = {
    deliver: (_, waiting) => resolve(waiting),
    drop: (owns) => void forgotten.push(...[LOST].filter((runId) => !owns(runId))),
  };
  const consumer = new PartitionsConsumer(nc, {
    server: server as RunServer,
    submit: {} as SubmitHandler,
    verbs: {} as VerbsHandler,
    logger: pino({ level: 'silent' }),
  });
  return { consumer, delivered, forgotten };
}

async function endAttempt(runId: RunId): Promise<void> {
  const finished = { status: 'completed', result: { value: {} } } as const;
  const commit = sealCommit(
    {
      commit: newCommitId(Date.parse(AT)),
      runId,
      taskId: 'a',
      attempt: 1,
      number: 1,
      at: AT,
      by: { service: 'device-agent', instance: 'test' },
      causes: [],
      events: [
        { id: `${runId}-a-1-1`, sequence: 1, schemaVersion: 1, type: 'ATTEMPT_FINISHED' as const, data: finished },
      ],
    },
    '0'.repeat(64),
  );
  await openAttemptLog(nc).append({ runId, taskId: 'a', attempt: 1, kind: 'end' }, commit, 0);
}
