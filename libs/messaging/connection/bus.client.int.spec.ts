import { connect as dialTo, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestNats, type TestNats } from '#libs/testing';
import { BusError, connectBus } from './bus.client.js';

let server: TestNats;
beforeAll(async () => {
  server = await startTestNats();
});
afterAll(() => server.stop());

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** In front of the server: connections for which `cuts` says so end after the greeting, when the client has said who it is. */
async function lineThat(cuts: (count: number) => boolean): Promise<{ url: string; count: () => number }> {
  let count = 0;
  const sockets = new Set<Socket>();
  const line = createServer((client) => {
    const isCut = cuts(++count);
    const upstream = dialTo(server.port, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
    upstream.pipe(client);
    client.on('data', (data) => (isCut ? client.destroy() : upstream.write(data)));
    client.on('close', () => upstream.destroy());
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  line.listen(0, '127.0.0.1', resolve);
  await promise;
  closing.push(() => {
    line.close();
    for (const socket of sockets) socket.destroy();
  });
  return { url: `nats://127.0.0.1:${(line.address() as AddressInfo).port}`, count: () => count };
}

const configOf = (url: string, connectTimeoutMs: number) => ({
  url,
  name: 'test',
  inboxPrefix: '_INBOX_test',
  connectTimeoutMs,
});

describe('a first connection', () => {
  it('that ends before it is answered is made once more', async () => {
    const line = await lineThat((count) => count === 1);
    const nc = await connectBus(configOf(line.url, 6_000));
    await nc.flush();
    await nc.close();
    expect(line.count()).toBeGreaterThan(1);
  });

  it.each([
    ['took the connection and said nothing', ''],
    [
      'greeted us and then did not answer',
      'INFO {"server_id":"x","version":"2.12.0","proto":1,"max_payload":1024,"headers":true}\r\n',
    ],
  ])('to somebody who is silent says so: %s', async (words, greeting) => {
    const silent = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.resume();
      if (greeting !== '') socket.write(greeting);
      closing.push(() => socket.destroy());
    });
    await new Promise<void>((resolve) => void silent.listen(0, '127.0.0.1', resolve));
    closing.push(() => silent.close());
    const url = `nats://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    await expect(connectBus(configOf(url, 900))).rejects.toThrow(`NATS at ${url} ${words} within 0.9 s.`);
  });

  it('that is never answered is given up in the end, with one sentence', async () => {
    const line = await lineThat(() => true);
    const failure = await connectBus(configOf(line.url, 900)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(BusError);
    expect(failure).toMatchObject({ message: `NATS at ${line.url} greeted us and then did not answer within 0.9 s.` });
    expect(line.count()).toBe(4); // the last one only looks
  });
});
