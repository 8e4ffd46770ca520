import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { allDurables, DURABLES } from '#proto';
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
    await jsm.consumers.update('REQUESTS', DURABLES.requests.durable, { max_ack_pending: 3 });
    const { created, updated } = await provision(nc);
    expect(created).toEqual([]);
    expect(updated).toEqual(['REQUESTS', `REQUESTS/${DURABLES.requests.durable}`]);
    expect((await jsm.streams.info('REQUESTS')).config.max_msg_size).toBe(8 * 1024 * 1024);
    expect((await jsm.consumers.info('REQUESTS', DURABLES.requests.durable)).config.max_ack_pending).toBe(-1);
  });

  it('refuses with the difference what cannot be mended', async () => {
    const jsm = await jetstreamManager(nc);
    await jsm.streams.update('FLEET', { deny_purge: true });
    const refusal = await provision(nc).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(ProvisionError);
    expect(refusal).toMatchObject({ drift: [{ field: 'deny_purge', wanted: false, found: true }] });
  });
});
