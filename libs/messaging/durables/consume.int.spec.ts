import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { DeadLetter, DURABLES, subjects } from '#proto';
import { moment, startTestNats } from '#libs/testing';
import type { TestNats } from '#libs/testing';
import { connectBus } from '../connection/bus.client.js';
import { ConnectionWatch } from '../connection/connection-watch.adapter.js';
import type { BusMessage } from './bus-message.js';
import {
  consumeBatches,
  consumeDurable,
  type BatchMessage,
  type ConsumeEvent,
  type Consumption,
} from './consume.adapter.js';
import { DONE } from './outcome.js';

const DURABLE = DURABLES.requests;
const SERVICE = 'orchestrator';

let server: TestNats;
let nc: NatsConnection;
let consumptions: Consumption[];

beforeEach(async () => {
  server = await startTestNats({ provisioned: true });
  nc = await connectBus({ url: server.url, name: 'test', inboxPrefix: '_INBOX_test' });
  consumptions = [];
});
afterEach(async () => {
  await Promise.all(consumptions.map((consumption) => consumption.stop(0)));
  await nc.close();
  await server.stop();
});

const send = async (from: number, to: number) => {
  for (let index = from; index <= to; index++) await jetstream(nc).publish(subjects.requests, String(index));
};
const text = (message: BusMessage) => new TextDecoder().decode(message.data);
const consume = (
  handler: Parameters<typeof consumeDurable>[2],
  options: Partial<Parameters<typeof consumeDurable>[3]> = {},
) => {
  const consumption = consumeDurable(nc, DURABLE, handler, { service: SERVICE, ...options });
  consumptions.push(consumption);
  return consumption;
};
const durableState = async () => (await jetstreamManager(nc)).consumers.info(DURABLE.stream, DURABLE.durable);

/** All is delivered, so many are not acknowledged, and all before this one are: an acknowledgement counts a moment after the server has it. */
async function settled({ left, before }: { readonly left: number; readonly before: number }): Promise<void> {
  for (;;) {
    const { num_pending: waiting, num_ack_pending: open, ack_floor: floor } = await durableState();
    if (waiting === 0 && open === left && floor.stream_seq === before) return;
    await moment();
  }
}

/** Resolves when `add` was called `count` times; what the tests wait for instead of time. */
function collector<T>(count: number): { items: T[]; add(item: T): void; full: Promise<T[]> } {
  const { promise, resolve } = Promise.withResolvers<T[]>();
  const items: T[] = [];
  return {
    items,
    add: (item) => {
      if (items.push(item) === count) resolve(items);
    },
    full: promise,
  };
}

describe('consumeDurable', () => {
  it('hands over each message with all that a handler may want to know', async () => {
    const seen = collector<BusMessage>(2);
    await send(1, 2);
    consume((message) => {
      seen.add(message);
      return Promise.resolve(DONE);
    });
    const [first] = await seen.full;
    expect(first).toMatchObject({ subject: subjects.requests, stream: 'REQUESTS', sequence: 1, deliveries: 1 });
    expect(seen.items.map(text)).toEqual(['1', '2']);
    expect(first?.header('Orrery-Commit')).toBeUndefined();
  });

  it('acknowledges what is done and nothing else', async () => {
    const seen = collector<string>(3);
    await send(1, 3);
    const consumption = consume((message) => {
      seen.add(text(message));
      return Promise.resolve(DONE);
    });
    await seen.full;
    await consumption.stop();
    await settled({ left: 0, before: 3 });
  });

  it('brings back what a handler asked to retry or threw on, for as long as it does', async () => {
    const deliveries: number[] = [];
    const over = Promise.withResolvers<void>();
    const events: ConsumeEvent[] = [];
    await send(1, 1);
    consume(
      (message) => {
        deliveries.push(message.deliveries);
        if (message.deliveries === 1) throw new Error('the database is away');
        if (message.deliveries === 2) return Promise.resolve({ kind: 'retry', delayMs: 1, reason: 'not yet' });
        over.resolve();
        return Promise.resolve(DONE);
      },
      { report: (event) => events.push(event) },
    );
    await over.promise;
    expect(deliveries).toEqual([1, 2, 3]);
    expect(events).toMatchObject([
      { kind: 'retry', sequence: 1, deliveries: 1, reason: 'Error: the database is away' },
      { kind: 'retry', sequence: 1, deliveries: 2, reason: 'not yet' },
    ]);
  });

  it('buries poison, once, and goes on', async () => {
    const seen = collector<string>(2);
    const letters = nc.subscribe(subjects.dlq(SERVICE), { max: 1 });
    await jetstream(nc).publish(subjects.requests, 'bad');
    await send(2, 2);
    consume(
      (message) => {
        seen.add(text(message));
        if (text(message) === 'bad') return Promise.resolve({ kind: 'poison', reason: 'it is not\nJSON' });
        return Promise.resolve(DONE);
      },
      { clock: { now: () => Date.parse('2026-11-20T15:40:40.489Z') } },
    );
    expect(await seen.full).toEqual(['bad', '2']);
    for await (const letter of letters) {
      expect(DeadLetter.parse(letter.json())).toEqual({
        service: SERVICE,
        stream: 'REQUESTS',
        sequence: 1,
        durable: DURABLE.durable,
        subject: subjects.requests,
        headers: {},
        payloadBase64: Buffer.from('bad').toString('base64'),
        reason: 'it is not\nJSON',
        deliveries: 1,
        at: '2026-11-20T15:40:40.489Z',
      });
    }
    const jsm = await jetstreamManager(nc);
    const buried = async () => (await jsm.streams.info('DLQ')).state.messages;
    // Who listens may hear of it before it is stored.
    while ((await buried()) === 0) await moment();
    expect(await buried()).toBe(1);
  });

  it('buries poison that is as large as the server takes', async () => {
    const letters = nc.subscribe(subjects.dlq(SERVICE), { max: 1 });
    await jetstream(nc).publish(subjects.requests, 'x'.repeat(8 * 1024 * 1024 - 1_024));
    consume(() => Promise.resolve({ kind: 'poison', reason: 'too large' }));
    for await (const letter of letters) {
      expect(DeadLetter.parse(letter.json()).reason).toMatch(
        /^too large \(the first \d+ of 8387584 bytes are here\)$/u,
      );
    }
  });

  it('runs as many handlers at once as allowed, not one more', async () => {
    let running = 0;
    let most = 0;
    const [four, all] = [collector<number>(4), collector<number>(20)];
    const free = Promise.withResolvers<void>();
    await send(1, 20);
    consume(
      async () => {
        most = Math.max(most, ++running);
        four.add(running);
        await free.promise;
        all.add(--running);
        return DONE;
      },
      { concurrency: 4 },
    );
    await four.full;
    await nc.rtt();
    free.resolve();
    await all.full;
    expect(most).toBe(4);
  });

  it('keeps a message longer than the server waits, without a second delivery', async () => {
    const deliveries: number[] = [];
    const free = Promise.withResolvers<void>();
    const jsm = await jetstreamManager(nc);
    await jsm.consumers.update(DURABLE.stream, DURABLE.durable, { ack_wait: 4_000_000_000 });
    await send(1, 3);
    const consumption = consume(
      async (message) => {
        deliveries.push(message.sequence);
        await free.promise;
        return DONE;
      },
      { concurrency: 1, maxPull: 3 },
    );
    const late = setTimeout(() => free.resolve(), 6_000); // half as long again as the server waits, which is more than a busy machine stands still
    await free.promise;
    clearTimeout(late);
    while (deliveries.length < 3) await moment();
    await consumption.stop();
    expect(deliveries).toEqual([1, 2, 3]);
    await settled({ left: 0, before: 3 });
    expect(await durableState()).toMatchObject({ num_redelivered: 0 });
  });

  it('goes on by itself after the server was killed, and loses nothing', async () => {
    const seen = collector<string>(20);
    ConnectionWatch.of(nc);
    consume((message) => {
      if (!seen.items.includes(text(message))) seen.add(text(message));
      return Promise.resolve(DONE);
    });
    await send(1, 10);
    await server.kill9();
    await server.restart();
    await ConnectionWatch.of(nc).request(() => nc.flush());
    await send(11, 20);
    expect((await seen.full).toSorted((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 20 }, (_, index) => String(index + 1)),
    );
  });

  it('gives up a pull that waits longer than is right now, and pulls again at once', async () => {
    let expiryMs = 3_600_000;
    const pulls = nc.subscribe(`$JS.API.CONSUMER.MSG.NEXT.${DURABLE.stream}.${DURABLE.durable}`, { max: 2 });
    await nc.flush();
    const seen = collector<string>(1);
    const consumption = consume(
      (message) => {
        seen.add(text(message));
        return Promise.resolve(DONE);
      },
      { expiryMs: () => expiryMs },
    );
    const asked: number[] = [];
    for await (const pull of pulls) {
      asked.push(pull.json<{ expires: number }>().expires / 1e6);
      consumption.look();
      expiryMs = 2_000;
      consumption.look();
    }
    expect(asked).toEqual([3_600_000, 2_000]);
    await send(1, 1);
    expect(await seen.full).toEqual(['1']);
  });

  it('waits for what is in work when it stops, and gives back what was not begun', async () => {
    const begun = Promise.withResolvers<void>();
    const free = Promise.withResolvers<void>();
    await send(1, 3);
    const consumption = consume(
      async () => {
        begun.resolve();
        await free.promise;
        return DONE;
      },
      { concurrency: 1, maxPull: 3 },
    );
    await begun.promise;
    const stopped = Promise.all([consumption.stop(), consumption.stop()]);
    free.resolve();
    await stopped;
    const seen = collector<number>(2);
    consume((message) => {
      seen.add(message.sequence);
      return Promise.resolve(DONE);
    });
    expect((await seen.full).toSorted((a, b) => a - b)).toEqual([2, 3]);
  });

  it('lets go at the limit of what does not end', async () => {
    const begun = Promise.withResolvers<void>();
    await send(1, 1);
    const consumption = consume(() => {
      begun.resolve();
      return new Promise(() => {});
    });
    await begun.promise;
    await consumption.stop(10);
    const seen = collector<number>(1);
    consume((message) => {
      seen.add(message.deliveries);
      return Promise.resolve(DONE);
    });
    expect(await seen.full).toEqual([2]);
  });
});

describe('consumeBatches', () => {
  it('hands over together what came together, and settles each message when it is told to', async () => {
    // So many that they cannot all come one by one, however slow the server is.
    const count = 40;
    const seen = collector<BatchMessage>(count);
    const sizes: number[] = [];
    await send(1, count);
    const consumption = consumeBatches(
      nc,
      DURABLE,
      (messages) => {
        sizes.push(messages.length);
        for (const message of messages) seen.add(message);
      },
      { service: SERVICE, maxPull: 2 * count },
    );
    consumptions.push(consumption);
    await seen.full;
    expect(sizes.length).toBeLessThan(count);
    for (const message of seen.items.slice(0, -1)) message.settle(DONE);
    seen.items[0]?.settle({ kind: 'retry', delayMs: 0, reason: 'settled already' });
    await settled({ left: 1, before: count - 1 });
  });

  it('takes no more than it may hold', async () => {
    const held = collector<BatchMessage>(4);
    const all = collector<number>(10);
    await send(1, 10);
    const consumption = consumeBatches(
      nc,
      DURABLE,
      (messages) => {
        for (const message of messages) {
          all.add(message.sequence);
          held.add(message);
        }
      },
      { service: SERVICE, maxPull: 4 },
    );
    consumptions.push(consumption);
    await held.full;
    await nc.rtt();
    expect(all.items).toHaveLength(4);
    while (all.items.length < 10) {
      for (const message of held.items.splice(0)) message.settle(DONE);
      await nc.flush();
    }
    expect(await all.full).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });
});

describe('acks that leave together', () => {
  /** Longer than the test lives: only `stop` can send them. */
  const ackIntervalMs = 3_600_000;

  it('are sent when the consumption stops, so nothing that is done comes again', async () => {
    const seen = collector<BatchMessage>(3);
    await send(1, 3);
    const options = { service: SERVICE, ackIntervalMs };
    const take = (messages: BatchMessage[]) => messages.forEach((message) => seen.add(message));
    const consumption = consumeBatches(nc, DURABLE, take, options);
    consumptions.push(consumption);
    for (const message of await seen.full) message.settle(DONE);
    await nc.flush();
    expect(await durableState()).toMatchObject({ num_ack_pending: 3 });
    await consumption.stop();
    await settled({ left: 0, before: 3 });
  });
});
