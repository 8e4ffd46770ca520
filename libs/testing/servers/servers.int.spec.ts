import { afterEach, describe, expect, it } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { Client } from 'pg';
import { startTestNats, type TestNats } from './nats-server.js';
import { startTestPostgres } from './postgres.js';

const servers: TestNats[] = [];
const start = async (): Promise<TestNats> => {
  const server = await startTestNats();
  servers.push(server);
  return server;
};
afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())));

async function append({ url }: TestNats): Promise<number> {
  const nc = await connect({ servers: url });
  const manager = await jetstreamManager(nc);
  await manager.streams.add({ name: 'FACTS', subjects: ['fact'] });
  const { seq } = await jetstream(nc).publish('fact', 'x');
  await nc.close();
  return seq;
}

describe('startTestNats', () => {
  it('is empty each time', async () => {
    const [first, second] = await Promise.all([start(), start()]);
    expect(first.url).not.toBe(second.url);
    expect([await append(first), await append(second)]).toEqual([1, 1]);
  });

  it('keeps port and streams over a restart and over kill -9', async () => {
    const server = await start();
    expect(await append(server)).toBe(1);
    await server.restart();
    expect(await append(server)).toBe(2);
    await server.kill9();
    await expect(connect({ servers: server.url, reconnect: false })).rejects.toThrow();
    await server.restart();
    expect(await append(server)).toBe(3);
  });
});

describe('startTestPostgres', () => {
  it('gives each call a database of its own on one server', async () => {
    const [first, second] = await Promise.all([startTestPostgres(), startTestPostgres()]);
    expect(new URL(first.url).port).toBe(new URL(second.url).port);
    expect(first.url).not.toBe(second.url);
    const client = new Client({ connectionString: first.url });
    client.on('error', () => undefined); // the forced drop below ends this connection
    await client.connect();
    await client.query('create table facts ()');
    await first.stop();
    await expect(new Client({ connectionString: first.url }).connect()).rejects.toMatchObject({ code: '3D000' });
    await second.stop();
  });
});
