import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { WebSocketServer, type WebSocket } from 'ws';
import { AIP_CLOSE } from '#proto';
import { wsTransport } from '../transport/ws-transport.adapter.js';
import {
  ConstellationEndpoint,
  RegistrationRefused,
  type ConstellationEndpointOptions,
  type ConstellationFact,
} from './constellation-client.runner.js';
import { ConstellationServerEndpoint } from '../session/constellation-server.js';

const CLOCK = { now: () => Date.now() };
const NOTHING = (): void => undefined;
const SOON = { policy: { msMin: 1, msMax: 5, uptimeMsMin: 60_000 }, random: () => 0 };

const open: { close(): void }[] = [];
afterEach(() => {
  for (const ending of open.splice(0)) ending.close();
});

/** A server that hands each socket to the test. */
async function listen(serve: (socket: WebSocket, url: string) => void): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  server.on('connection', (socket, request) => serve(socket, request.url ?? ''));
  open.push({
    close: () => {
      for (const socket of server.clients) socket.terminate();
      server.close();
    },
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.on('listening', resolve);
  await promise;
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}/ws`;
}

/** Our own server's end; each task is done by `work`, and d1 is the one device. */
function ours(socket: WebSocket, work: (sessionId: string, server: ConstellationServerEndpoint) => void): void {
  const server: ConstellationServerEndpoint = new ConstellationServerEndpoint({
    identity: { id: 'galaxy', targets: null, expiresAt: null },
    transport: wsTransport(socket, { clock: CLOCK }),
    clock: CLOCK,
    port: {
      lookUp: ({ deviceId, sessionId }) =>
        server.input({ kind: 'target', sessionId, state: deviceId === 'd1' ? 'connected' : 'not-connected' }),
      submit: ({ task: { sessionId } }) => server.input({ kind: 'accepted', sessionId, runId: 'r' }),
      follow: ({ sessionId }) => work(sessionId, server),
      cancel: NOTHING,
      deviceInfo: ({ deviceId, requestId }) =>
        server.input({ kind: 'device-info', deviceId, requestId, info: { device_id: deviceId } }),
      left: NOTHING,
      closed: NOTHING,
    },
    watch: { log: NOTHING, count: NOTHING },
  });
}
const atOnce = (sessionId: string, server: ConstellationServerEndpoint): void =>
  server.input({ kind: 'ended', sessionId, status: 'completed', result: sessionId, error: null });

async function connect(url: string, more: Partial<ConstellationEndpointOptions> = {}): Promise<ConstellationEndpoint> {
  const options = { url, credential: async () => 'secret', clientId: 'r@d1', targetId: 'd1', clock: CLOCK, ...more };
  const endpoint = await ConstellationEndpoint.connect(options);
  open.push({ close: () => void endpoint.close() });
  return endpoint;
}
const call = (sessionId: string) => ({ sessionId, name: 't', request: 'do it' });

describe('a constellation client', () => {
  it('registers, asks for its device and drives it', async () => {
    const endpoint = await connect(await listen((socket) => ours(socket, atOnce)));
    expect(await endpoint.deviceInfo()).toEqual({ device_id: 'd1' });
    const ends = await Promise.all(['s1', 's2', 's3'].map((sessionId) => endpoint.task(call(sessionId))));
    expect(ends.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
    expect(ends[1]?.result).toEqual([{ request: 'do it', result: 's2' }]);
    expect(await endpoint.task({ ...call('s4'), targetId: 'd9' })).toMatchObject({
      status: 'failed',
      error: expect.stringContaining("'d9' is not connected"),
    });
    await endpoint.close();
    expect(await endpoint.closed).toMatchObject({ code: AIP_CLOSE.normal });
    expect(await endpoint.task(call('s5'))).toMatchObject({ status: 'failed' });
    await expect(endpoint.deviceInfo()).rejects.toThrow('there is no connection');
  });

  it('is told when its registration is refused', async () => {
    const url = await listen((socket) => ours(socket, atOnce));
    await expect(connect(url, { targetId: 'd9' })).rejects.toBeInstanceOf(RegistrationRefused);
  });

  it('puts its token into the URL for servers that take it nowhere else', async () => {
    const urls: string[] = [];
    const url = await listen((socket, at) => {
      urls.push(at);
      ours(socket, atOnce);
    });
    await connect(url);
    await connect(url, { credentialIn: 'query' });
    expect(urls).toEqual(['/ws', '/ws?token=secret']);
  });

  it('hears of a refusal also from a server that sends no TASK_END', async () => {
    const endpoint = await connect(
      await listen((socket) =>
        socket.on('message', (data: Buffer) => {
          const { type } = JSON.parse(data.toString()) as { type: string };
          const error = { type: 'error', status: 'error', error: 'no such device' };
          socket.send(JSON.stringify(type === 'task' ? error : { type: 'heartbeat', status: 'ok' }));
        }),
      ),
    );
    expect(await endpoint.task(call('s1'))).toEqual({ status: 'failed', result: null, error: 'no such device' });
  });

  it('comes back after a cut; what was open then is unknown', async () => {
    const facts: ConstellationFact['fact'][] = [];
    let connections = 0;
    const url = await listen((socket) => {
      connections++;
      if (connections === 2) return socket.terminate();
      ours(socket, connections === 1 ? () => socket.terminate() : atOnce);
    });
    const again = Promise.withResolvers<void>();
    const endpoint = await connect(url, {
      reconnect: SOON,
      onFact: ({ fact }) => {
        facts.push(fact);
        if (facts.filter((seen) => seen === 'registered').length === 2) again.resolve();
      },
    });
    expect(await endpoint.task(call('s1'))).toMatchObject({ status: 'unknown', error: 'the connection ended (1006)' });
    await again.promise;
    expect(await endpoint.task(call('s1'))).toMatchObject({ status: 'completed' });
    expect(facts).toEqual(['registered', 'disconnected', 'not-connected', 'registered']);
  });

  it('stops to try again when it is closed', async () => {
    const url = await listen((socket) => ours(socket, () => socket.terminate()));
    const endpoint = await connect(url, {
      reconnect: { policy: { msMin: 60_000, msMax: 60_000, uptimeMsMin: 0 }, random: () => 1 },
    });
    await endpoint.task(call('s1'));
    await endpoint.close();
    expect(await endpoint.closed).toMatchObject({ code: 1006 });
    expect(endpoint.isConnected).toBe(false);
  });
});
