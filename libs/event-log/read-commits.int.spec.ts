import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect } from '@nats-io/transport-node';
import type { NatsConnection } from '@nats-io/transport-node';
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
