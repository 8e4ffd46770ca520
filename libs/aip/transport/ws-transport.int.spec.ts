import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';
import { AIP_LIMITS } from '#proto';
import { ChaosProxy } from '#libs/testing';
import { livenessPolicy } from './liveness.js';
import type { Closed, Transport } from './transport.js';
import { connectWs, HandshakeRefused, wsTransport, type WsTransportOptions } from './ws-transport.adapter.js';

const CLOCK = { now: () => Date.now() };
/** Goes on by 40 ms at most from one look to the next: a machine that lets this process stand still takes no time from a peer. */
function patientClock() {
  let [at, shown] = [Date.now(), 0];
  const now = (): number => {
    const later = Date.now();
    shown += Math.min(later - at, 40);
    at = later;
    return shown;
  };
  return { now };
}

const cleanups: (() => void)[] = [];
afterEach(() => cleanups.splice(0).forEach((cleanup) => cleanup()));

interface Ends {
  readonly client: Transport;
  readonly server: Transport;
}

/** A listener on loopback; `accepted` is its first connection, `socket` what that is made of. */
async function listener(serverOptions: Partial<WsTransportOptions> = {}, maxPayload = 1_000) {
  const { promise: accepted, resolve } = Promise.withResolvers<Transport>();
  const { promise: socket, resolve: open } = Promise.withResolvers<WebSocket>();
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', maxPayload });
  server.on('connection', (one) => {
    cleanups.push(() => one.terminate());
    open(one);
    resolve(wsTransport(one, { clock: CLOCK, ...serverOptions }));
  });
  cleanups.push(() => server.close());
  await once(server, 'listening');
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, accepted, socket };
}

/** Both ends of a WebSocket. */
async function pair(serverOptions: Partial<WsTransportOptions> = {}): Promise<Ends> {
  const { url, accepted } = await listener(serverOptions);
  const client = await connectWs({ url, clock: CLOCK, frameBytesMax: 64 * 1024 * 1024 });
  cleanups.push(() => client.terminate());
  return { client, server: await accepted };
}

function listen(end: Transport) {
  const closed = Promise.withResolvers<Closed>();
  const drained = Promise.withResolvers<void>();
  const frames: (string | null)[] = [];
  const arrived = new Map<number, () => void>();
  end.handle({
    frame: (text) => {
      frames.push(text);
      arrived.get(frames.length)?.();
    },
    closed: closed.resolve,
    drained: drained.resolve,
  });
  const after = (count: number): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    arrived.set(count, resolve);
    if (frames.length >= count) resolve();
    return promise;
  };
  return { frames, after, closed: closed.promise, drained: drained.promise };
}

describe('wsTransport', () => {
  it('takes the bytes of a frame that is not whole yet as a sign of life', async () => {
    const { url, accepted } = await listener();
    const line = await ChaosProxy.start(url);
    const liveness = { pingEveryMs: 100, deadAfterMs: 250 };
    const client = await connectWs({ url: line.url, clock: patientClock(), liveness, checkEveryMs: 20 });
    cleanups.push(
      () => client.terminate(),
      () => void line.close(),
    );
    const one = listen(client);
    // Its whole way takes four times as long as silence may take.
    line.shape({ bytesPerSecond: 10_000 }, 'down');
    (await accepted).send('x'.repeat(10_000));
    expect(await Promise.race([one.after(1), one.closed])).toBeUndefined();
  });

  it('carries frames both ways, those included that came before anybody listened', async () => {
    const { client, server } = await pair();
    server.send('early');
    client.send('hello');
    const [one, other] = [listen(client), listen(server)];
    await Promise.all([one.after(1), other.after(1)]);
    expect([one.frames, other.frames]).toEqual([['early'], ['hello']]);
  });

  it('says goodbye with code and reason, and is closed once', async () => {
    const { client, server } = await pair();
    const [one, other] = [listen(client), listen(server)];
    server.close(4000, 'replaced');
    expect(await one.closed).toEqual({ code: 4000, reason: 'replaced' });
    expect(await other.closed).toMatchObject({ code: 4000 });
    server.send('too late');
    server.terminate();
  });

  it('ends a peer whose frame is too large', async () => {
    const { client, server } = await pair();
    listen(server);
    client.send('x'.repeat(1_001));
    expect(await listen(client).closed).toMatchObject({ code: 1009 });
  });

  it('finds a peer that is silent: it does not even answer pings', async () => {
    const { client, server } = await pair({ checkEveryMs: 10, liveness: { pingEveryMs: 10, deadAfterMs: 40 } });
    client.pause(); // nothing is read, so no pong is sent
    expect(await listen(server).closed).toMatchObject({ code: 1006 });
  });

  it('keeps a peer that only answers pings', async () => {
    // Goes on only when an answer has come, so that the third ping comes when a peer that was never heard is long dead.
    let nowMs = 0;
    const { url, accepted, socket } = await listener({ clock: { now: () => nowMs }, checkEveryMs: 10 });
    const client = new WebSocket(url);
    client.on('error', () => undefined);
    cleanups.push(() => client.terminate());
    const closed = listen(await accepted).closed.then(({ code }) => `closed with ${code}`);
    for (let pings = 0; pings < 3; pings++) {
      const answered = once(await socket, 'pong').then(() => 'answered');
      nowMs += livenessPolicy(AIP_LIMITS.deadAfterMs).pingEveryMs + 1;
      expect(await Promise.race([answered, closed])).toBe('answered');
    }
    expect(nowMs).toBeGreaterThan(AIP_LIMITS.deadAfterMs);
  });

  it('is congested while the peer does not read, tells when it is not any more', async () => {
    const { client, server } = await pair();
    const peer = listen(client);
    const { drained } = listen(server);
    client.pause();
    const frame = 'x'.repeat(256 * 1024);
    let count = 0;
    while (!server.congested) {
      server.send(frame);
      count++;
    }
    client.resume();
    await drained;
    expect(server.congested).toBe(false);
    await peer.after(count);
  });

  it('cuts off a peer that lets everything pile up', async () => {
    const { client, server } = await pair();
    const { closed } = listen(server);
    client.pause();
    const frame = 'x'.repeat(1024 * 1024);
    // What the kernel takes comes on top of the limit.
    for (let bytes = 0; bytes < 4 * AIP_LIMITS.bufferedBytesMax; bytes += frame.length) server.send(frame);
    expect(await closed).toMatchObject({ code: 1006 });
  });
});

describe('connectWs', () => {
  const refusing = async (): Promise<string> => {
    const server = createServer();
    server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n'));
    const { promise, resolve } = Promise.withResolvers<void>();
    server.listen(0, '127.0.0.1', resolve);
    await promise;
    cleanups.push(() => server.close());
    return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  it('tells a refusal, with its status, from a network that is not there', async () => {
    await expect(connectWs({ url: await refusing(), clock: CLOCK })).rejects.toEqual(new HandshakeRefused(401));
    await expect(connectWs({ url: 'ws://127.0.0.1:1', clock: CLOCK })).rejects.not.toBeInstanceOf(HandshakeRefused);
  });

  it('can be given up', async () => {
    const silent = createServer(() => undefined);
    silent.on('upgrade', () => undefined);
    const { promise, resolve } = Promise.withResolvers<void>();
    silent.listen(0, '127.0.0.1', resolve);
    await promise;
    cleanups.push(() => {
      silent.closeAllConnections();
      silent.close();
    });
    const giveUp = new AbortController();
    const url = `ws://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const connecting = connectWs({ url, clock: CLOCK, signal: giveUp.signal });
    giveUp.abort();
    await expect(connecting).rejects.toThrow();
  });
});
