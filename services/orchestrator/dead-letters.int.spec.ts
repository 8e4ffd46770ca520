import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { DeadLetter, subjects } from '#proto';
import { readCommits } from '#libs/event-log';
import { connectBus, query, QueryRefusedError } from '#libs/messaging';
import { asksAs, connectDevice, moment, type Replica, startTestNats, type TestNats } from '#libs/testing';
import { startOrchestrator } from './rig.testing.js';

let nats: TestNats;
let nc: NatsConnection;
let orchestrator: Replica;

beforeAll(async () => {
  nats = await startTestNats({ provisioned: true });
  nc = await connectBus({ url: nats.url, name: 'test', inboxPrefix: '_INBOX_test' });
  await asksAs(nc);
  await connectDevice(nc, 'web-1');
  orchestrator = await startOrchestrator(nc, { instance: 'one' });
});

afterAll(async () => {
  await orchestrator.stop();
  await nc.close();
  await nats.stop();
});

it('a request that no device could serve is a dead letter, and a run once such a device is enrolled', async () => {
  const task = { id: 'a', name: 'a', target: { device: 'late-1' }, command: { tool: 'NOOP' } };
  nc.publish(
    subjects.requests,
    JSON.stringify({ requestId: 'early', constellation: { name: 'early', tasks: [task] } }),
  );
  const letter = await nextLetter();
  expect(letter).toMatchObject({ stream: 'REQUESTS', reason: expect.stringContaining('late-1') });
  const place = { stream: 'REQUESTS', sequence: letter.sequence ?? 0 };

  await expect(query(nc, 'orchestrator', 'dlq-retry', place)).rejects.toThrow('still bad');
  await connectDevice(nc, 'late-1');
  await untilHandled(place);

  const { state } = await (await jetstreamManager(nc)).streams.info('REQUESTS');
  expect(state.messages).toBe(1);
  const run = await (await jetstreamManager(nc)).streams.info('RUNS');
  expect(run.state.messages).toBe(1);
});

it('refuses a place that holds nothing and a stream that it does not read', async () => {
  await expect(query(nc, 'orchestrator', 'dlq-retry', { stream: 'REQUESTS', sequence: 999 })).rejects.toThrow(
    'no message 999',
  );
  await expect(query(nc, 'orchestrator', 'dlq-retry', { stream: 'FLEET', sequence: 1 })).rejects.toThrow(
    'no inputs from FLEET',
  );
});

async function nextLetter(): Promise<DeadLetter> {
  for await (const { data } of readCommits(nc, 'DLQ', { afterSequence: 0 })) {
    return DeadLetter.parse(JSON.parse(new TextDecoder().decode(data)));
  }
  throw new Error('the stream ended');
}

/** The profile reaches the orchestrator's view a moment after it is written. */
async function untilHandled(place: { stream: string; sequence: number }): Promise<void> {
  for (;;) {
    try {
      await query(nc, 'orchestrator', 'dlq-retry', place);
      return;
    } catch (error) {
      if (!(error instanceof QueryRefusedError)) throw error;
      await moment();
    }
  }
}
