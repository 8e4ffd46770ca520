import { describe, expect, it } from '@jest/globals';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { DURABLES, QUERIES, subjects } from '#proto';
import { BusStrategy, type BusEvent } from './bus.strategy.js';
import { Thrown } from './patterns.js';

const REQUEST = new TextEncoder().encode('{}');

interface Subscribed {
  readonly subject: string;
  readonly queue: string | undefined;
  readonly callback: (error: Error | null, message: Msg) => void;
  isDrained: boolean;
}

/** A connection on which nothing comes but what a test says. */
function rig(service = 'bench') {
  const subscribed: Subscribed[] = [];
  const events: BusEvent[] = [];
  const nc = {
    subscribe: (subject: string, { queue, callback }: Pick<Subscribed, 'queue' | 'callback'>) => {
      const entry: Subscribed = { subject, queue, callback, isDrained: false };
      subscribed.push(entry);
      return { drain: async () => void (entry.isDrained = true) };
    },
  } as unknown as NatsConnection;
  const clock = { now: () => 0 };
  const strategy = new BusStrategy({ nc, service, clock, report: (event) => events.push(event) });
  const listen = (): Promise<unknown> => new Promise((resolve) => void strategy.listen(resolve));
  const ask = (at: number): Promise<string> =>
    new Promise((resolve) => {
      const respond = (data: string): boolean => (resolve(data), true);
      const { subject, callback } = subscribed[at] as Subscribed;
      callback(null, { subject, data: REQUEST, reply: '_INBOX_test.1', respond } as unknown as Msg);
    });
  const open = (): string[] => subscribed.filter(({ isDrained }) => !isDrained).map(({ subject }) => subject);
  return { strategy, subscribed, events, listen, ask, open };
}

describe('a handler that nothing would ever reach', () => {
  const { stream, durable } = DURABLES.registryDue;
  it.each<[what: string, pattern: unknown, sentence: string]>([
    [
      'without a durable',
      { stream },
      'A handler of bench takes {"stream":"TIMERS"}, which is no durable, query or subject.',
    ],
    ['of a text', 'orders', 'A handler of bench takes "orders", which is no durable, query or subject.'],
    ['of nothing', undefined, 'A handler of bench takes undefined, which is no durable, query or subject.'],
    [
      'of a durable that is not there',
      { stream, durable: 'x' },
      'A handler takes TIMERS/x, and there is no such durable.',
    ],
    [
      'of a durable of another stream',
      { stream: 'RUNS', durable },
      `A handler takes RUNS/${durable}, and there is no such durable.`,
    ],
    [
      'of partitions that are not there',
      { stream, durable: 'x-<partition>' },
      'A handler takes TIMERS/x-<partition>, and there is no such durable.',
    ],
    [
      'of another service',
      { service: 'registry', query: 'devices' },
      'bench has a handler of the query devices of registry.',
    ],
  ])('%s is refused in one sentence', (_, pattern, sentence) => {
    expect(() => rig().strategy.addHandler(pattern, async () => undefined)).toThrow(sentence);
  });

  it('and a query that nobody answers keep the service from beginning', async () => {
    const { strategy, listen } = rig('logging');
    strategy.addHandler({ service: 'logging', query: 'run' }, async () => undefined);
    // Which queries there are is the table's, and grows: what is promised is that each of them but the served one is named.
    const left = Object.keys(QUERIES.logging).filter((name) => name !== 'run');
    expect(left).toContain('approvals');
    expect(String(await listen())).toBe(`HandlersError: logging has no handler of the query ${left.join(', ')}.`);
  });
});

describe('a subject', () => {
  it('is shared by the replicas, and answered with what the handler says', async () => {
    const { strategy, subscribed, listen, ask } = rig();
    strategy.addHandler({ subject: 'submit' }, async (request: unknown) => ({ got: request }));
    await listen();
    expect(subscribed).toMatchObject([{ subject: subjects.submit, queue: 'bench' }]);
    expect(JSON.parse(await ask(0))).toMatchObject({ got: { subject: subjects.submit } });
  });

  it.each(['', 'orrery.run.run-1', '$KV.ACTORS.anna', 'orrery.device.web-1.command'])(
    'is not handled when the answer is to go to %j, where nobody waits for it',
    async (reply) => {
      const { strategy, subscribed, listen } = rig();
      const handled: unknown[] = [];
      strategy.addHandler({ subject: 'submit' }, async (request: unknown) => handled.push(request));
      await listen();
      const respond = (): boolean => handled.push('answer') > 0;
      subscribed[0]?.callback(null, { subject: 'x', data: REQUEST, reply, respond } as unknown as Msg);
      await new Promise(setImmediate);
      expect(handled).toEqual([]);
    },
  );

  it('is not answered when the handler threw, and who runs the service hears why', async () => {
    const { strategy, events, listen, subscribed } = rig();
    const error = new Error('the disk is full');
    strategy.addHandler({ subject: 'submit' }, async () => new Thrown(error));
    await listen();
    const answers: unknown[] = [];
    const respond = (data: unknown): boolean => answers.push(data) > 0;
    subscribed[0]?.callback(null, { subject: 'x', data: REQUEST, reply: '_INBOX_test.1', respond } as unknown as Msg);
    await new Promise(setImmediate);
    expect(events).toEqual([{ kind: 'failed', what: 'x', error }]);
    expect(answers).toEqual([]);
  });

  it('is let go at the end', async () => {
    const { strategy, listen, open } = rig();
    strategy.addHandler({ subject: 'submit' }, async () => ({}));
    await listen();
    await strategy.close();
    expect(open()).toEqual([]);
  });
});

describe('partitions', () => {
  const verbs = (...partitions: number[]): string[] =>
    partitions.map((partition) => subjects.verbsOfPartition(partition));
  const served = async (): Promise<ReturnType<typeof rig>> => {
    const made = rig();
    made.strategy.addHandler({ subject: 'verbsOfPartition' }, async () => ({}));
    await made.listen();
    return made;
  };

  it('are served from when they are owned until they are not', async () => {
    const { strategy, open } = await served();
    expect(open()).toEqual([]);
    await strategy.serve(new Set([1, 2]));
    expect(open()).toEqual(verbs(1, 2));
    await strategy.serve(new Set([2, 3]));
    expect(open()).toEqual(verbs(2, 3));
    await strategy.close();
    expect(open()).toEqual([]);
  });

  it('that are owned before it listens are served when it does', async () => {
    const { strategy, listen, open } = rig();
    strategy.addHandler({ subject: 'verbsOfPartition' }, async () => ({}));
    await strategy.serve(new Set([7]));
    expect(open()).toEqual([]);
    await listen();
    expect(open()).toEqual(verbs(7));
  });

  it('stay when everything else ends first', async () => {
    const { strategy, open } = await served();
    await strategy.serve(new Set([4]));
    await strategy.onModuleDestroy();
    expect(open()).toEqual(verbs(4));
  });
});
