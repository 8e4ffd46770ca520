import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { NatsConnection } from '@nats-io/transport-node';
import { allDurables, liveSubjectOf, subjects } from '#proto';
import { connectBus } from '#libs/messaging';
import { startTestNats } from '#libs/testing';
import type { TestNats } from '#libs/testing';
import { openRunLog } from './jetstream-event-log.adapter.js';
import { readCommits } from './read-commits.adapter.js';
import type { StreamEntry } from './read-commits.adapter.js';
import { headOf, sampleId, sampleRunCommit } from './sample-commits.testing.js';

describe('readCommits', () => {
  let server: TestNats;
  let nc: NatsConnection;
  let ids = 1;
  beforeAll(async () => {
    server = await startTestNats({ provisioned: true });
    nc = await connectBus({ url: server.url, name: 'test', inboxPrefix: '_INBOX_test' });
  });
  afterAll(async () => {
    await nc.close();
    await server.stop();
  });

  const append = async (runId: string, count: number) => {
    const log = openRunLog(nc);
    for (let index = 0; index < count; index++) {
      const stored = await log.load(runId);
      const commit = sampleRunCommit(runId, headOf(stored.map(({ commit: before }) => before)), sampleId(ids++));
      await log.append(runId, commit, stored.at(-1)?.sequence ?? 0);
    }
  };
  const take = async (count: number, afterSequence: number): Promise<StreamEntry[]> => {
    const entries: StreamEntry[] = [];
    for await (const entry of readCommits(nc, 'RUNS', { afterSequence })) {
      entries.push(entry);
      if (entries.length === count) break;
    }
    return entries;
  };

  it('reads what is there, with what a projector needs', async () => {
    await append('read-1', 3);
    const entries = await take(3, 0);
    const stored = await openRunLog(nc).load('read-1');
    expect(entries.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    const parsed: unknown[] = entries.map(({ data }) => JSON.parse(Buffer.from(data).toString()));
    expect(parsed).toEqual(stored.map(({ commit }) => commit));
    expect(entries[2]).toMatchObject({
      subject: 'orrery.run.read-1',
      commit: stored[2]?.commit.commit,
      types: ['RUN_PAUSED'],
      pending: 0,
    });
  });

  it('begins behind the position it is given', async () => {
    expect((await take(1, 2)).map(({ sequence }) => sequence)).toEqual([3]);
  });

  it('goes on without gap or repetition over restarts and crashes of the server', async () => {
    const entries: StreamEntry[] = [];
    const over = new AbortController();
    const reading = (async () => {
      for await (const entry of readCommits(nc, 'RUNS', { afterSequence: 0, signal: over.signal })) {
        entries.push(entry);
        if (entries.length === 43) over.abort();
      }
    })();
    await append('read-2', 20);
    await server.kill9();
    await server.restart();
    await append('read-2', 10);
    await server.restart();
    await append('read-2', 10);
    await reading;
    expect(entries.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 43 }, (_, index) => index + 1));
  });

  it('reads one run only, what is there and what comes, without a consumer', async () => {
    await append('read-3', 2);
    const over = new AbortController();
    const seen: string[] = [];
    const filter = subjects.run('read-3');
    for await (const { subject, pending } of readCommits(nc, 'RUNS', {
      afterSequence: 0,
      filter,
      signal: over.signal,
    })) {
      seen.push(`${subject} ${pending}`);
      if (seen.length === 3) over.abort();
      if (pending > 0 || seen.length > 2) continue;
      await append('read-4', 1);
      await append('read-3', 1);
    }
    expect(seen).toEqual([`${filter} 1`, `${filter} 0`, `${filter} 0`]);
    const { state } = await (await jetstreamManager(nc)).streams.info('RUNS');
    expect(state.consumer_count).toBe(allDurables().filter(({ stream }) => stream === 'RUNS').length);
  });

  it('hears what many readers of a run wait for once, and each has all of it, whoever comes late, waits or stops', async () => {
    const filter = subjects.run('read-6');
    await append('read-6', 2);
    const subscribed = jest.spyOn(nc, 'subscribe');
    const isStored = Promise.withResolvers<void>();
    const follow = async (count: number, reading: { at?: number; until?: Promise<void> } = {}): Promise<number[]> => {
      const seen: number[] = [];
      for await (const { sequence } of readCommits(nc, 'RUNS', { filter, afterSequence: reading.at ?? 0 })) {
        seen.push(sequence);
        await reading.until;
        if (seen.length === count) break;
      }
      return seen;
    };
    const [slow, quick, stops] = [follow(12, { until: isStored.promise }), follow(12), follow(2)];
    const [, last = 0] = await stops;
    const late = follow(10, { at: last });
    await append('read-6', 10);
    isStored.resolve();
    const all = await quick;
    expect(await slow).toEqual(all);
    expect(await late).toEqual(all.slice(2));
    expect((await openRunLog(nc).load('read-6')).map(({ sequence }) => sequence)).toEqual(all);
    const subscriptions = subscribed.mock.calls.filter(([subject]) => subject === liveSubjectOf(filter));
    subscribed.mockRestore();
    expect(subscriptions).toHaveLength(1);
  });

  it('is told what it has missed while it was busy, and asks nobody for it', async () => {
    const filter = subjects.run('read-7');
    await append('read-7', 1);
    const reader = await connectBus({ url: server.url, name: 'reader', inboxPrefix: '_INBOX_test' });
    const probe = reader.subscribe('probe');
    const seen: number[] = [];
    let before = 0;
    for await (const { sequence } of readCommits(reader, 'RUNS', { filter, afterSequence: 0 })) {
      if (seen.push(sequence) === 6) break;
      if (seen.length > 1) continue;
      await append('read-7', 5);
      // What was told before this has come before this.
      const told = probe[Symbol.asyncIterator]().next();
      nc.publish('probe');
      await told;
      before = reader.stats().outMsgs;
    }
    expect(reader.stats().outMsgs).toBe(before);
    expect((await openRunLog(nc).load('read-7')).map(({ sequence }) => sequence)).toEqual(seen);
    await reader.close();
  });

  it('waits for a slow reader, and misses nothing that came meanwhile', async () => {
    const texts = Array.from({ length: 600 }, (_, index) => String(index));
    const publish = (some: string[]) =>
      Promise.all(some.map((text) => jetstream(nc).publish(subjects.dlq('slow'), text)));
    await publish(texts.slice(0, 300));
    const read: string[] = [];
    for await (const { data, pending } of readCommits(nc, 'DLQ', { afterSequence: 0 })) {
      if (read.length === 0) await publish(texts.slice(300));
      read.push(Buffer.from(data).toString());
      if (read.length >= texts.length && pending === 0) break;
    }
    expect(read).toEqual(texts);
  });

  it('goes on behind messages that were deleted, and behind a purge of everything', async () => {
    const { streams } = await jetstreamManager(nc);
    const publish = async (text: string) =>
      (await jetstream(nc).publish(subjects.feed('gap', 'RUN_PAUSED', 'anna'), text)).seq;
    const first = await publish('a');
    await publish('b');
    await publish('c');
    await streams.deleteMessage('FEED', first + 1);
    const texts: string[] = [];
    for await (const { data } of readCommits(nc, 'FEED', { afterSequence: first - 1 })) {
      const text = Buffer.from(data).toString();
      texts.push(text);
      if (text === 'c') {
        await publish('never read');
        await streams.purge('FEED');
        await publish('d');
      }
      if (text === 'd') break;
    }
    expect(texts).toEqual(['a', 'c', 'd']);
  });

  it('takes messages that are larger than a page', async () => {
    const content = 'x'.repeat(5 * 1024 * 1024);
    const before = await jetstream(nc).publish(subjects.dlq('large'), content);
    await jetstream(nc).publish(subjects.dlq('large'), content);
    const bytes: number[] = [];
    for await (const { data } of readCommits(nc, 'DLQ', { afterSequence: before.seq - 1 })) {
      if (bytes.push(data.length) === 2) break;
    }
    expect(bytes).toEqual([content.length, content.length]);
  });

  it('ends when it is told to, even when nothing comes', async () => {
    const over = new AbortController();
    const reading = (async () => {
      for await (const entry of readCommits(nc, 'FLEET', { afterSequence: 0, signal: over.signal })) return entry;
      return 'ended';
    })();
    over.abort();
    expect(await reading).toBe('ended');
  });
});

it('says at once that a user may not read the stream, instead of trying for ever', async () => {
  const password = 'p'.repeat(32);
  const users = [
    { name: 'admin', password, publish: ['>'], subscribe: ['>'] },
    { name: 'reader', password, publish: ['$JS.API.INFO', '$JS.API.STREAM.INFO.*'], subscribe: ['_INBOX_reader.>'] },
  ];
  const server = await startTestNats({ users, provisioned: true });
  const admin = await connect({ servers: server.url, user: 'admin', pass: password });
  const reader = await connect({ servers: server.url, user: 'reader', pass: password, inboxPrefix: '_INBOX_reader' });
  const read = async () => {
    for await (const entry of readCommits(reader, 'RUNS', { afterSequence: 0 })) return entry;
    return undefined;
  };
  await expect(read()).rejects.toThrow(/permission/iu);
  await admin.close();
  await reader.close();
  await server.stop();
});
