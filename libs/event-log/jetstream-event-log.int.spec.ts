import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import type { NatsConnection } from '@nats-io/transport-node';
import { HEADER_COMMIT, subjects } from '#proto';
import { connectBus, storeFaultOf, StoreWatch } from '#libs/messaging';
import { moment, startTestNats } from '#libs/testing';
import type { TestNats } from '#libs/testing';
import { encodeCommit } from './chain.js';
import { aggregateContract } from './aggregate.contract.js';
import { AppendError, CorruptLogError } from './errors.js';
import { compete, eventLogContract } from './event-log.contract.js';
import {
  JetStreamEventLog,
  openAttemptLog,
  openFleetLog,
  openPlanLog,
  openRunLog,
} from './jetstream-event-log.adapter.js';
import { losing } from './losing.testing.js';
import { verifyChain } from './sealing.js';
import { headOf, sampleId, sampleRunCommit, START } from './sample-commits.testing.js';

const connection = (server: TestNats) => connectBus({ url: server.url, name: 'test', inboxPrefix: '_INBOX_test' });

eventLogContract('JetStreamEventLog', async () => {
  const server = await startTestNats({ provisioned: true });
  const [nc, other] = [await connection(server), await connection(server)];
  return {
    runs: openRunLog(nc),
    otherRuns: openRunLog(other),
    attempts: openAttemptLog(nc),
    plans: openPlanLog(nc),
    fleet: openFleetLog(nc),
    close: async () => {
      await Promise.all([nc.close(), other.close()]);
      await server.stop();
    },
  };
});

aggregateContract('JetStream', async () => {
  const server = await startTestNats({ provisioned: true });
  const [nc, other] = [await connection(server), await connection(server)];
  return {
    log: openRunLog(nc),
    other: openRunLog(other),
    logOf: (spec) => new JetStreamEventLog(nc, spec),
    losing: (what) => ({ log: openRunLog(losing(nc, what)), heard: 'appended' }),
    close: async () => {
      await Promise.all([nc.close(), other.close()]);
      await server.stop();
    },
  };
});

describe('JetStreamEventLog', () => {
  let server: TestNats;
  let nc: NatsConnection;
  beforeAll(async () => {
    server = await startTestNats({ provisioned: true });
    nc = await connection(server);
  });
  afterAll(async () => {
    await nc.close();
    await server.stop();
  });

  it('finds its commit when the ack is lost', async () => {
    const log = openRunLog(losing(nc, 'ack'));
    const commit = sampleRunCommit('ack-lost', START, sampleId(5001));
    expect(await log.append('ack-lost', commit, 0)).toEqual({
      kind: 'appended',
      sequence: await log.endsAt('ack-lost'),
    });
    expect(await log.load('ack-lost')).toHaveLength(1);
  });

  it('sends a commit again that never arrived', async () => {
    const log = openRunLog(losing(nc, 'message'));
    const commit = sampleRunCommit('message-lost', START, sampleId(5002));
    expect(await log.append('message-lost', commit, 0)).toMatchObject({ kind: 'appended' });
    expect(await log.load('message-lost')).toHaveLength(1);
  });

  it('yields to another commit that came first while its own was lost', async () => {
    const other = openRunLog(nc);
    const winner = sampleRunCommit('overtaken', START, sampleId(5003));
    const log = openRunLog(losing(nc, 'message', async () => void (await other.append('overtaken', winner, 0))));
    const loser = sampleRunCommit('overtaken', START, sampleId(5004));
    expect(await log.append('overtaken', loser, 0)).toEqual({ kind: 'conflict' });
    expect((await log.load('overtaken')).map(({ commit }) => commit)).toEqual([winner]);
  });

  it('says so when the server refuses a commit for good', async () => {
    const closed = await connection(server);
    await closed.close();
    const commit = sampleRunCommit('refused', START, sampleId(5005));
    await expect(openRunLog(closed).append('refused', commit, 0)).rejects.toThrow(AppendError);
  });

  it('does not load what was not written as it stands', async () => {
    const store = async (runId: string, body: object | string) => {
      const head = headers();
      head.set(HEADER_COMMIT, sampleId(5006));
      const data = typeof body === 'string' ? body : JSON.stringify(body);
      await jetstream(nc).publish(subjects.run(runId), data, { headers: head });
    };
    const commit = (runId: string) => sampleRunCommit(runId, START, sampleId(5007));
    await store('changed', { ...commit('changed'), at: '2026-11-20T15:40:40.000Z' });
    await store('unknown-field', { ...commit('unknown-field'), note: 'x' });
    await store('no-json', 'no json');
    for (const runId of ['changed', 'unknown-field', 'no-json']) {
      await expect(openRunLog(nc).load(runId)).rejects.toThrow(CorruptLogError);
    }
  });

  it('stores the commit as it was sealed, with its id and types as headers', async () => {
    const commit = sampleRunCommit('headers', START, sampleId(5008));
    const received = nc.subscribe(subjects.liveRun('headers'), { max: 1 });
    await openRunLog(nc).append('headers', commit, 0);
    for await (const message of received) {
      expect(message.data).toEqual(encodeCommit(commit));
      expect(message.headers?.get('Orrery-Commit')).toBe(commit.commit);
      expect(message.headers?.get('Nats-Msg-Id')).toBe(commit.commit);
      expect(message.headers?.get('Orrery-Types')).toBe('RUN_PAUSED');
    }
  });
});

describe('JetStreamEventLog on a server that has no room', () => {
  it('says so at once, and goes on when there is room', async () => {
    const small = await startTestNats({ provisioned: true, maxFileStore: '64KB' });
    const nc = await connection(small);
    const log = openRunLog(nc);
    const commit = sampleRunCommit('full', START, sampleId(5009));
    const jsm = await jetstreamManager(nc);
    await jsm.streams.add({ name: 'FILL', subjects: ['fill'] });
    await jetstream(nc).publish('fill', new Uint8Array(100_000));
    const refused = await log.append('full', commit, 0).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(AppendError);
    expect(storeFaultOf(refused)).toMatchObject({ kind: 'limit' });
    expect(await log.endsAt('full')).toBe(0);
    StoreWatch.of(nc).asks(small.monitorUrl);
    expect(await StoreWatch.of(nc).fault()).toMatchObject({ kind: 'limit' });
    await expect(log.append('full', commit, 0)).rejects.toThrow('nats-server stores as much as it is allowed to');
    await jsm.streams.purge('FILL');
    while ((await StoreWatch.of(nc).fault()) !== undefined) await moment();
    expect(await log.append('full', commit, 0)).toMatchObject({ kind: 'appended' });
    await nc.close();
    await small.stop();
  });
});

describe('JetStreamEventLog on a server that is killed again and again', () => {
  const KILLS = 3;
  const WRITERS = 4;
  const RUNS = ['chaos-1', 'chaos-2'];
  const COMMITS_EACH = 60;

  it('loses nothing that was acknowledged and doubles nothing', async () => {
    const server = await startTestNats({ provisioned: true });
    const connections = await Promise.all(Array.from({ length: WRITERS }, () => connection(server)));
    const [first] = connections;
    if (first === undefined) throw new Error('no connection');
    const writing = connections.flatMap((nc, writer) =>
      RUNS.map((runId, run) => {
        const firstId = (writer * RUNS.length + run + 1) * 1_000;
        return compete(openRunLog(nc), runId, firstId, COMMITS_EACH);
      }),
    );
    const done = Promise.all(writing);
    const reader = openRunLog(first);
    for (let kill = 1; kill <= KILLS; kill++) {
      while ((await reader.load('chaos-1')).length < (kill * WRITERS * COMMITS_EACH) / (KILLS + 1));
      await server.kill9();
      await server.restart();
    }
    const acked = await done;
    for (const [index, runId] of RUNS.entries()) {
      const stored = (await reader.load(runId)).map(({ commit }) => commit);
      const expected = acked.filter((_, writer) => writer % RUNS.length === index).flat();
      expect(stored.map(({ commit }) => commit).toSorted()).toEqual(expected.toSorted());
      expect(headOf(stored).number).toBe(WRITERS * COMMITS_EACH);
      expect(verifyChain(stored)).toEqual([]);
    }
    await Promise.all(connections.map((nc) => nc.close()));
    await server.stop();
  });
});
