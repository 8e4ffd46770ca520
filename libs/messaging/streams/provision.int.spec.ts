import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { allDurables, DURABLES, subjects } from '#proto';
import { startTestNats } from '#libs/testing';
import type { TestNats } from '#libs/testing';
import { connectBus } from '../connection/bus.client.js';
import { provision, ProvisionError } from './provision.adapter.js';

let server: TestNats;
let nc: NatsConnection;

beforeAll(async () => {
  server = await startTestNats();
  nc = await connectBus({ url: server.url, name: 'test', inboxPrefix: '_INBOX_test' });
});
afterAll(async () => {
  await nc.close();
  await server.stop();
});

describe('provision', () => {
  it('makes every stream, bucket and durable on an empty server', async () => {
    const { created, updated } = await provision(nc);
    expect(updated).toEqual([]);
    expect(created).toEqual(expect.arrayContaining(['RUNS', 'PLANS', 'KV_MEMBERS', 'OBJ_ARTIFACTS']));
    expect(created.filter((name) => name.includes('/'))).toHaveLength(allDurables().length);
  });

  it('finds nothing to do the second time', async () => {
    expect(await provision(nc)).toEqual({ created: [], updated: [] });
  });

  it('mends what the server lets it mend', async () => {
    const jsm = await jetstreamManager(nc);
    await jsm.streams.update('REQUESTS', { max_msg_size: 17 });
    const strange = { max_ack_pending: 3, headers_only: true, filter_subject: 'orrery.requests' };
    await jsm.consumers.update('REQUESTS', DURABLES.requests.durable, strange);
    const { created, updated } = await provision(nc);
    expect(created).toEqual([]);
    expect(updated).toEqual(['REQUESTS', `REQUESTS/${DURABLES.requests.durable}`]);
    expect((await jsm.streams.info('REQUESTS')).config.max_msg_size).toBe(8 * 1024 * 1024);
    expect((await jsm.consumers.info('REQUESTS', DURABLES.requests.durable)).config.max_ack_pending).toBe(-1);
  });

  it('tells of streams and buckets that were made before they were told of, and keeps what is in them', async () => {
    const jsm = await jetstreamManager(nc);
    for (const name of ['FEED', 'KV_PRESENCE']) {
      const { republish, ...before } = (await jsm.streams.info(name)).config;
      expect(republish).toMatchObject({ headers_only: true });
      await nc.request(`$JS.API.STREAM.UPDATE.${name}`, JSON.stringify(before), { timeout: 20_000 });
      expect((await jsm.streams.info(name)).config.republish).toBeUndefined();
    }
    const { seq } = await jetstream(nc).publish(subjects.feed('run-1', 'RUN_PAUSED', 'anna'), 'before');
    const { updated } = await provision(nc);
    expect(updated).toEqual(expect.arrayContaining(['FEED', 'KV_PRESENCE']));
    expect((await jsm.streams.getMessage('FEED', { seq }))?.string()).toBe('before');
    expect(await provision(nc)).toEqual({ created: [], updated: [] });
  });

  it('refuses with the difference what cannot be mended', async () => {
    const jsm = await jetstreamManager(nc);
    await jsm.streams.update('FLEET', { deny_purge: true });
    const refusal = await provision(nc).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ProvisionError);
    expect(refusal).toMatchObject({ drift: [{ field: 'deny_purge', wanted: false, found: true }] });
  });
});
