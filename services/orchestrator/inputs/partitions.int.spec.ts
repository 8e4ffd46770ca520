import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { Module } from '@nestjs/common';
import { partitionOf, type RunId, subjects } from '#proto';
import { newCommitId, openAttemptLog, sealCommit } from '#libs/event-log';
import { BusStrategy, connectBus } from '#libs/messaging';
import { startReplica, startTestNats, type TestNats } from '#libs/testing';
import { RunServer } from '../runs/run-server.handler.js';
import type { Waiting } from '../runs/served-run.js';
import { PartitionInputs } from './partitions.consumer.js';
import { Partitions } from './partitions.js';
import { SubmitHandler } from './submit.handler.js';
import { VerbsHandler } from './verbs.handler.js';

@Module({ controllers: [PartitionInputs] })
class Inlets {}

const AT = '2026-01-01T00:00:00.000Z';
const LOST: RunId = 'run-1';
const GAINED: RunId = 'run-2';

let nats: TestNats;
let nc: NatsConnection;

beforeAll(async () => {
  nats = await startTestNats({ provisioned: true });
  nc = await connectBus({ url: nats.url, name: 'test', inboxPrefix: '_INBOX_test' });
});

afterAll(async () => {
  await nc.close();
  await nats.stop();
});

it('a partition that is gained is served at once, although a lost one still has an input in work', async () => {
  expect(partitionOf(LOST)).not.toBe(partitionOf(GAINED));
  const { replica, partitions, delivered, forgotten } = await setUp();
  await partitions.serve(new Set([partitionOf(LOST)]));
  await endAttempt(LOST);
  const inWork = await delivered;

  const changed = partitions.serve(new Set([partitionOf(GAINED)]));
  await nc.flush();
  const reply = await nc.request(subjects.verb(GAINED, 'NOTHING'), '{}', { timeout: 20_000 });
  expect(reply.json()).toMatchObject({ answer: 'rejected' });
  expect([partitions.owns(LOST), partitions.owns(GAINED), forgotten]).toEqual([false, true, [LOST]]);

  inWork.settle({ kind: 'answered', answer: { kind: 'accepted' }, sequence: 1 });
  await changed;
  await partitions.serve(new Set());
  await replica.stop();
});

/** The inputs over a server that keeps what it is given, and settles it when the test says so. */
async function setUp() {
  const { promise: delivered, resolve } = Promise.withResolvers<Waiting>();
  const forgotten: RunId[] = [];
  const server: Pick<RunServer, 'deliver'> = { deliver: (_, waiting) => resolve(waiting) };
  const replica = await startReplica(Inlets, {
    service: 'orchestrator',
    nc,
    instance: 'one',
    providers: [
      { provide: RunServer, useValue: server },
      { provide: SubmitHandler, useValue: {} },
      { provide: VerbsHandler, useValue: {} },
    ],
  });
  const partitions = new Partitions(replica.get(BusStrategy));
  partitions.onLoss(() => forgotten.push(...[LOST].filter((runId) => !partitions.owns(runId))));
  return { replica, partitions, delivered, forgotten };
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
