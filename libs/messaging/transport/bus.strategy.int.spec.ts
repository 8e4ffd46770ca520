import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { Module } from '@nestjs/common';
import { DeadLetter, DURABLES, LONE_PULL_EXPIRY_MS, PARTITIONS, PULL_EXPIRY_MS, subjects } from '#proto';
import {
  Answers,
  AnswersSubject,
  createLogger,
  part,
  TakesMessages,
  Takes,
  TakesPartitions,
  token,
} from '#libs/platform';
import {
  ANYBODY,
  asksAsAnybody,
  moment,
  type Replica,
  startReplica,
  startTestBus,
  startTestNats,
  type TestNats,
} from '#libs/testing';
import { connectBus } from '../connection/bus.client.js';
import type { BusMessage } from '../durables/bus-message.js';
import type { BatchMessage } from '../durables/consume.adapter.js';
import { DONE, type Outcome } from '../durables/outcome.js';
import { query } from '../verbs/queries.adapter.js';
import { BusStrategy } from './bus.strategy.js';

/** The parts of the service under test are these three functions; each test sets what it needs. */
let take: (message: BusMessage) => Promise<Outcome>;
let takeTogether: (messages: BatchMessage[]) => void;
let answer: (request: string) => Promise<object>;

const text = ({ data }: { data: Uint8Array }): string => new TextDecoder().decode(data);

@TakesMessages()
class Handlers {
  @Takes(DURABLES.requests, { concurrency: 4 })
  take(message: BusMessage): Promise<Outcome> {
    return take(message);
  }

  @TakesPartitions('PLANS', 'orchestrator-plans-<partition>')
  takeTogether(messages: BatchMessage[]): void {
    takeTogether(messages);
  }

  @AnswersSubject('submit')
  submit(request: { data: Uint8Array }): Promise<object> {
    return answer(text(request));
  }
}

@Module({ controllers: [Handlers] })
class Service {}

/** Messages of REQUESTS that `Limited` has in work at once, and what says that there may be more. */
let room: number;
const ROOM = token<{ readonly widened: () => void }>('ROOM');

@Module({
  controllers: [Handlers],
  providers: [
    part(ROOM, [BusStrategy], (bus) => ({
      widened: bus.limit(DURABLES.requests, { concurrency: () => room, maxPull: () => room }),
    })),
  ],
})
class Limited {}

@TakesMessages()
class Explains {
  @Answers('device-agent', 'explain')
  async explain(): Promise<never> {
    throw new Error('no policy is loaded');
  }
}

@Module({ controllers: [Explains] })
class Incomplete {}

let server: TestNats;
let nc: NatsConnection;
let stopping: (() => Promise<unknown>)[];

beforeEach(async () => {
  server = await startTestNats({ provisioned: true });
  stopping = [];
  nc = await connect('test');
  take = async () => DONE;
  takeTogether = (messages) => messages.forEach((message) => message.settle(DONE));
  answer = async () => ({});
});
afterEach(async () => {
  for (const stop of stopping.toReversed()) await stop();
  await server.stop();
});

async function connect(name: string): Promise<NatsConnection> {
  const made = await connectBus({ url: server.url, name, inboxPrefix: `_INBOX_${name}` });
  stopping.push(() => made.close());
  return made;
}

async function replica(
  instance = 'a',
  module: new () => object = Service,
): Promise<Replica & { readonly nc: NatsConnection }> {
  const own = await connect(instance);
  const started = await startReplica(module, { service: 'orchestrator', nc: own, instance });
  stopping.push(() => started.stop());
  return { ...started, nc: own };
}

const send = async (...texts: string[]): Promise<void> => {
  for (const one of texts) await jetstream(nc).publish(subjects.requests, one);
};
const state = async () => (await jetstreamManager(nc)).consumers.info('REQUESTS', DURABLES.requests.durable);
/** Looks until it is so; the test's own limit ends it. */
async function becomes(look: () => Promise<boolean>): Promise<void> {
  while (!(await look())) await moment();
}

describe('messages of a durable', () => {
  it('reach the method, and are acknowledged by what it says', async () => {
    const seen: string[] = [];
    take = async (message) => {
      seen.push(`${text(message)} ${message.deliveries}`);
      return text(message) === 'later' && message.deliveries === 1
        ? { kind: 'retry', delayMs: 0, reason: 'not yet' }
        : DONE;
    };
    await replica();
    await send('first', 'later');
    await becomes(async () => (await state()).ack_floor.stream_seq === 2);
    expect(seen.toSorted()).toEqual(['first 1', 'later 1', 'later 2']);
  });

  it('come again when the method throws', async () => {
    const { promise, resolve } = Promise.withResolvers<number>();
    take = async ({ deliveries }) => {
      if (deliveries === 1) throw new Error('the database is away');
      resolve(deliveries);
      return DONE;
    };
    await replica();
    await send('one');
    expect(await promise).toBe(2);
  });

  it('that are bad become dead letters with the reason, and are handed over again when somebody asks', async () => {
    let isMended = false;
    take = async () => (isMended ? DONE : { kind: 'poison', reason: 'nobody can read this' });
    const strategy = (await replica()).get(BusStrategy);
    await send('bad');
    await becomes(async () => (await state()).ack_floor.stream_seq === 1);
    const jsm = await jetstreamManager(nc);
    const stored = await jsm.streams.getMessage('DLQ', { last_by_subj: subjects.dlq('orchestrator') });
    expect(DeadLetter.parse(stored?.json())).toMatchObject({
      service: 'orchestrator',
      durable: DURABLES.requests.durable,
      reason: 'nobody can read this',
      deliveries: 1,
    });
    const letter = { stream: 'REQUESTS', sequence: 1 };
    await expect(query(nc, 'orchestrator', 'dlq-retry', letter)).rejects.toThrow('It is not signed.');
    asksAsAnybody(nc);
    await expect(query(nc, 'orchestrator', 'dlq-retry', letter)).rejects.toThrow('Nobody is known here yet');
    strategy.admit(ANYBODY);
    await expect(query(nc, 'orchestrator', 'dlq-retry', letter)).rejects.toThrow(
      'It is still bad: nobody can read this.',
    );
    isMended = true;
    expect(await query(nc, 'orchestrator', 'dlq-retry', letter)).toEqual({ handled: true });
  });

  it('are taken as far as there is room now, and more of them when there is more', async () => {
    room = 1;
    const inWork: (() => void)[] = [];
    let [begun, most] = [0, 0];
    take = () => {
      const { promise, resolve } = Promise.withResolvers<Outcome>();
      begun += 1;
      most = Math.max(
        most,
        inWork.push(() => resolve(DONE)),
      );
      return promise;
    };
    const limited = await replica('a', Limited);
    await send('one', 'two', 'three');
    await becomes(async () => (await state()).num_ack_pending === 1 && begun === 1);
    inWork.shift()?.();
    await becomes(async () => (await state()).ack_floor.stream_seq === 1 && begun === 2);
    expect(most).toBe(1);
    room = 2;
    limited.get<{ widened: () => void }>(ROOM).widened();
    await becomes(async () => (await state()).num_ack_pending === 2 && begun === 3);
    expect(most).toBe(2);
    for (const end of inWork) end();
  });

  it('that a killed replica was working on come to another one', async () => {
    const began = Promise.withResolvers<void>();
    take = () => {
      began.resolve();
      return new Promise(() => undefined);
    };
    const killed = await replica('a');
    await send('one');
    await began.promise;
    await killed.nc.close();
    const again = Promise.withResolvers<number>();
    take = async ({ deliveries }) => {
      again.resolve(deliveries);
      return DONE;
    };
    await replica('b');
    expect(await again.promise).toBe(2);
    await becomes(async () => (await state()).ack_floor.stream_seq === 1);
  });

  it('are each handled once when one replica ends and another goes on', async () => {
    const handled: string[] = [];
    const working = new Set<() => void>();
    const full = Promise.withResolvers<void>();
    take = async (message) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      working.add(resolve);
      if (working.size === 4) full.resolve();
      await promise;
      handled.push(text(message));
      return DONE;
    };
    const first = await replica('a');
    const all = Array.from({ length: 12 }, (_, index) => String(index));
    await send(...all);
    await full.promise;
    const stopped = first.stop();
    for (const end of working) end();
    await stopped;
    expect(handled).toHaveLength(4);
    take = async (message) => {
      handled.push(text(message));
      return DONE;
    };
    await replica('b');
    await becomes(async () => (await state()).ack_floor.stream_seq === all.length);
    expect(handled.toSorted((a, b) => Number(a) - Number(b))).toEqual(all);
  });
});

describe('messages of partitions', () => {
  const publish = (partition: number, body: string): Promise<unknown> =>
    jetstream(nc).publish(subjects.plansOfPartition(partition).replace('*', 'run'), body);

  it('come while the replica owns them, together', async () => {
    const seen: string[] = [];
    let seenTwo = Promise.withResolvers<void>();
    takeTogether = (messages) => {
      for (const message of messages) {
        seen.push(text(message));
        message.settle(DONE);
      }
      if (seen.length === 2) seenTwo.resolve();
    };
    const bus = (await replica()).get(BusStrategy);
    await publish(3, 'three');
    await publish(4, 'four');
    await bus.serve(new Set([3]));
    await publish(3, 'more');
    await seenTwo.promise;
    expect(seen).toEqual(['three', 'more']);
    seenTwo = Promise.withResolvers();
    seen.length = 0;
    await bus.serve(new Set([4]));
    await publish(3, 'not here');
    await publish(4, 'here');
    await seenTwo.promise;
    expect(seen).toEqual(['four', 'here']);
  });
});

describe('pulls of partitions', () => {
  const ALL = Array.from({ length: PARTITIONS }, (_, partition) => partition);
  /** In milliseconds: the server is told in nanoseconds. */
  const expiryOf = (data: Uint8Array): number => JSON.parse(text({ data })).expires / 1e6;

  it('wait long while no other replica is there, and no longer when one is', async () => {
    const asked = new Map<string, number>();
    nc.subscribe('$JS.API.CONSUMER.MSG.NEXT.PLANS.*', {
      callback: (_, { subject, data }) => void asked.set(subject.split('.').at(-1) ?? '', expiryOf(data)),
    });
    await nc.flush();
    const bus = (await replica()).get(BusStrategy);
    await bus.serve(new Set(ALL));
    await becomes(async () => asked.size === PARTITIONS);
    expect(new Set(asked.values())).toEqual(new Set([LONE_PULL_EXPIRY_MS]));
    const kept = ALL.slice(1);
    await bus.serve(new Set(kept));
    await becomes(async () => kept.every((one) => asked.get(`orchestrator-plans-${one}`) === PULL_EXPIRY_MS));
  });
});

describe('requests', () => {
  it('get one answer each, from any of the replicas', async () => {
    const seen: string[] = [];
    answer = async (request) => {
      seen.push(request);
      return { to: request };
    };
    await replica('a');
    await replica('b');
    const asked = Array.from({ length: 20 }, (_, index) => String(index));
    const answers = await Promise.all(asked.map((one) => nc.request(subjects.submit, one, { timeout: 20_000 })));
    expect(answers.map((one) => one.json())).toEqual(asked.map((to) => ({ to })));
    expect(seen).toHaveLength(asked.length);
  });

  it('that the server lets nobody take are not waited for in silence: the service is not ready', async () => {
    const bus = await startTestBus();
    stopping.push(() => bus.stop());
    const lines: string[] = [];
    const logger = createLogger(
      { service: 'bench', instance: 'd', level: 'error' },
      { write: (line) => void lines.push(line) },
    );
    const planner = await bus.as('planner');
    const denied = await startReplica(Service, {
      service: 'bench',
      nc: planner,
      instance: 'd',
      logger,
    });
    stopping.push(() => denied.stop());
    // The server has answered the subscription by the time that it answers this.
    await planner.flush();
    await expect(denied.get(BusStrategy).check()).rejects.toThrow(/nothing comes on \S+: .*permission/iu);
    expect(lines.join('')).toContain('nothing comes any more');
  });

  it('of a service that leaves some of its queries without an answer keep it from beginning', async () => {
    const started = startReplica(Incomplete, { service: 'device-agent', nc: await connect('c'), instance: 'c' });
    await expect(started).rejects.toThrow(
      'device-agent has no handler of the query settings, prompt, deliver, workspaces.',
    );
  });
});
