import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { NatsConnection } from '@nats-io/transport-node';
import { startTestNats } from '#libs/testing';
import type { TestNats } from '#libs/testing';
import { BusError, connectBus } from './bus.client.js';
import { checkServer, UnsafeServerError } from './server-check.adapter.js';

describe('checkServer', () => {
  let server: TestNats;
  let nc: NatsConnection;
  let monitor: Server;
  /** What a server says that syncs every two minutes. */
  const lazy = () => JSON.stringify({ server_id: nc.info?.server_id, config: { sync_interval: 120_000_000_000 } });
  beforeAll(async () => {
    server = await startTestNats();
    nc = await connectBus({ url: server.url, name: 'test', inboxPrefix: '_INBOX_test' });
    monitor = createServer((_, response) => response.end(lazy()));
    await new Promise<void>((resolve) => monitor.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    monitor.close();
    await nc.close();
    await server.stop();
  });
  const lazyUrl = () => `http://127.0.0.1:${(monitor.address() as AddressInfo).port}`;

  it('accepts a server that fsyncs before it acknowledges', async () => {
    await expect(checkServer(nc, { monitorUrl: server.monitorUrl })).resolves.toBeUndefined();
  });

  it('refuses one that does not, unless that is allowed', async () => {
    await expect(checkServer(nc, { monitorUrl: lazyUrl() })).rejects.toThrow('sync_interval: always');
    await expect(checkServer(nc, { monitorUrl: lazyUrl(), allowUnsafeLog: true })).resolves.toBeUndefined();
  });

  it('refuses when nobody can tell', async () => {
    await expect(checkServer(nc)).rejects.toThrow(UnsafeServerError);
    await expect(checkServer(nc, { monitorUrl: 'http://127.0.0.1:1' })).rejects.toThrow('does not answer');
  });

  it('refuses the word of another server', async () => {
    const other = await startTestNats();
    await expect(checkServer(nc, { monitorUrl: other.monitorUrl })).rejects.toThrow('another server');
    await other.stop();
  });
});

describe('connectBus', () => {
  it('says in one sentence that there is no server, without the password', async () => {
    const connecting = connectBus({ url: 'nats://user:secret@127.0.0.1:1', name: 'test', inboxPrefix: '_INBOX_test' });
    await expect(connecting).rejects.toThrow(BusError);
    await expect(connecting).rejects.toThrow('NATS at nats://127.0.0.1:1 cannot be reached');
  });

  it('says which seed file it cannot read', async () => {
    const connecting = connectBus({
      url: 'nats://127.0.0.1:1',
      name: 'test',
      inboxPrefix: '_INBOX_test',
      seedFile: '/nowhere',
    });
    await expect(connecting).rejects.toThrow('/nowhere');
  });
});
