import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { Controller, Module } from '@nestjs/common';
import type { INestMicroservice } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DURABLES, subjects } from '#proto';
import { connectBus, DONE, provision } from '#libs/messaging';
import type { BusMessage, ConsumeEvent, Outcome } from '#libs/messaging';
import { startTestNats } from '#libs/testing';
import type { TestNats } from '#libs/testing';
import { JetStreamStrategy, OnDurable } from './jetstream.strategy.js';

const seen: string[] = [];
let enough = Promise.withResolvers<void>();

@Controller()
class RequestsController {
  @OnDurable(DURABLES.requests, { concurrency: 1 })
  async take(message: BusMessage): Promise<Outcome> {
    const text = new TextDecoder().decode(message.data);
    seen.push(`${text} ${message.deliveries}`);
    await Promise.resolve();
    if (text === 'throws' && message.deliveries === 1) throw new Error('the database is away');
    if (text === 'poison') return { kind: 'poison', reason: 'it is not JSON' };
    if (text === 'last') enough.resolve();
    return DONE;
  }
}

@Module({ controllers: [RequestsController] })
class TestModule {}

describe('JetStreamStrategy', () => {
  let server: TestNats;
  let nc: NatsConnection;
  let app: INestMicroservice;
  const events: ConsumeEvent[] = [];
  beforeAll(async () => {
    server = await startTestNats();
    nc = await connectBus({ url: server.url, name: 'test', inboxPrefix: '_INBOX_test' });
    await provision(nc);
    const strategy = new JetStreamStrategy(nc, { service: 'orchestrator', report: (event) => events.push(event) });
    app = await NestFactory.createMicroservice(TestModule, { strategy, logger: false });
    await app.listen();
  });
  afterAll(async () => {
    await nc.close();
    await server.stop();
  });
  const send = (text: string) => jetstream(nc).publish(subjects.requests, text);

  it('hands messages to controllers and settles them by the outcome, an exception being a retry', async () => {
    for (const text of ['first', 'throws', 'poison', 'last']) await send(text);
    await enough.promise;
    while (!seen.includes('throws 2')) await nc.flush();
    expect(seen.slice(0, 4)).toEqual(['first 1', 'throws 1', 'poison 1', 'last 1']);
    expect(events).toMatchObject([
      { kind: 'retry', sequence: 2 },
      { kind: 'poison', sequence: 3, reason: 'it is not JSON' },
    ]);
    expect((await (await jetstreamManager(nc)).streams.info('DLQ')).state.messages).toBe(1);
  });

  it('takes nothing more after it is closed, and leaves the connection open', async () => {
    await app.close();
    enough = Promise.withResolvers<void>();
    await send('after');
    await nc.flush();
    const { num_pending: pending } = await (
      await jetstreamManager(nc)
    ).consumers.info('REQUESTS', 'orchestrator-requests');
    expect(pending).toBe(1);
    expect(seen).not.toContain('after 1');
  });
});
