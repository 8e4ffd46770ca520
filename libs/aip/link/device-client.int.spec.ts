import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { WebSocketServer, type WebSocket } from 'ws';
import { ownPort } from '#libs/testing';
import { AIP_CLOSE, type ClientMessage } from '#proto';
import type { BackoffPolicy } from '../transport/backoff.js';
import { linkedPair } from '../transport/linked-pair.js';
import {
  DeviceClientEndpoint,
  Unwelcome,
  type Credentials,
  type DeviceClientEndpointOptions,
  type LinkFact,
} from './device-client.runner.js';
import type { LinkedDevice } from './server-connection.js';

const REGISTER: ClientMessage = { type: 'register', status: 'ok', client_type: 'device' };
const CONFIRMED = JSON.stringify({ type: 'heartbeat', status: 'ok' });
const POLICY: BackoffPolicy = { msMin: 8, msMax: 64, uptimeMsMin: 10_000 };

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function until<T>(look: () => T | undefined): Promise<T> {
  for (let tries = 0; tries < 2_000; tries++) {
    const found = look();
    if (found !== undefined) return found;
    await sleep(5);
  }
  throw new Error('it never became true');
}

interface Listener {
  readonly url: string;
  readonly requests: IncomingMessage[];
  stop(): Promise<void>;
}

/** A server that does with every socket what it is told; a number is the status of a refused handshake. */
async function listen(
  serve: (socket: WebSocket, count: number) => void,
  status = () => 101,
  port = 0,
): Promise<Listener> {
  const http: Server = createServer();
  const sockets = new WebSocketServer({ noServer: true });
  const requests: IncomingMessage[] = [];
  http.on('upgrade', (request, socket, head) => {
    const code = status();
    requests.push(request);
    if (code !== 101) return void socket.end(`HTTP/1.1 ${code} No\r\nContent-Length: 0\r\n\r\n`);
    sockets.handleUpgrade(request, socket, head, (ws) => serve(ws, requests.length));
  });
  http.listen(port, '127.0.0.1');
  await once(http, 'listening');
  let stopped = false;
  const stop = async (): Promise<void> => {
    if (stopped) return;
    stopped = true;
    for (const client of sockets.clients) client.terminate();
    await new Promise((resolve) => http.close(resolve));
  };
  cleanups.push(stop);
  return { url: `ws://127.0.0.1:${(http.address() as AddressInfo).port}/ws`, requests, stop };
}

const confirms = (socket: WebSocket): void => void socket.on('message', () => socket.send(CONFIRMED));

type More = Partial<Credentials> & Partial<Pick<DeviceClientEndpointOptions, 'credentialIn' | 'connect'>>;

function start(urls: readonly string[], more: More = {}) {
  const facts: LinkFact[] = [];
  const device: LinkedDevice = {
    register: () => REGISTER,
    holdings: () => ({ running: [], finished: [] }),
    nextResult: () => undefined,
    heartbeat: () => ({ type: 'heartbeat', status: 'ok', client_type: 'device' }),
    onReady: () => undefined,
    onMessage: () => undefined,
    onDisconnected: () => undefined,
  };
  const endpoint = new DeviceClientEndpoint({
    urls,
    credentials: { credential: () => Promise.resolve('canary'), disbelieved: () => false, ...more },
    ...(more.credentialIn !== undefined && { credentialIn: more.credentialIn }),
    ...(more.connect !== undefined && { connect: more.connect }),
    device,
    monotonicMs: () => performance.now(),
    random: () => 1,
    onFact: (fact) => facts.push(fact),
    policy: POLICY,
  });
  const ending = new AbortController();
  const running = endpoint.run(ending.signal);
  const stop = async (): Promise<void> => {
    ending.abort();
    await running;
  };
  cleanups.unshift(stop);
  const named = <N extends LinkFact['fact']>(name: N): Extract<LinkFact, { fact: N }>[] =>
    facts.flatMap((fact) => (fact.fact === name ? [fact as Extract<LinkFact, { fact: N }>] : []));
  return { endpoint, facts, named, stop, ending, running };
}

const seen = (count: number, list: () => readonly unknown[]): Promise<boolean> =>
  until(() => (list().length >= count ? true : undefined));

describe('a device with several servers', () => {
  it('finds the one that lives, at once, and does not tell its credential to a log', async () => {
    const dead = await listen(() => undefined);
    await dead.stop();
    const living = await listen(confirms);
    const { facts, named } = start([dead.url, living.url]);
    await seen(1, () => named('registered'));
    expect(facts.map(({ fact }) => fact)).toEqual(['not-connected', 'registered']);
    expect(named('registered')[0]?.address).toBe(living.url);
    expect(living.requests[0]?.headers.authorization).toBe('Bearer canary');
    expect(JSON.stringify(facts)).not.toContain('canary');
  });

  it('goes on to the next when one is lost and does not come back, and round again', async () => {
    const port = await ownPort();
    const first = await listen(confirms, undefined, port);
    const second = await listen(confirms);
    const { named } = start([first.url, second.url]);
    await seen(1, () => named('registered'));
    await first.stop();
    await seen(2, () => named('registered'));
    const again = await listen(confirms, undefined, port);
    await second.stop();
    await seen(3, () => named('registered'));
    expect(named('registered').map(({ address }) => address)).toEqual([first.url, second.url, again.url]);
  });
});

describe('a server', () => {
  it('that confirms and drops at once is waited for longer and longer, and never given up', async () => {
    const flapping = await listen((socket, count) => {
      socket.on('message', () => {
        socket.send(CONFIRMED);
        if (count < 8) socket.close(1011);
      });
    });
    const { named } = start([flapping.url]);
    await seen(8, () => named('registered'));
    expect(named('waiting').map(({ waitMs }) => waitMs)).toEqual([8, 16, 32, 64, 64, 64, 64]);
    expect(named('waiting').map(({ failures }) => failures)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it.each([
    ['another client has the identity', AIP_CLOSE.replaced, POLICY.msMax],
    ['the identity counts no more', AIP_CLOSE.revoked, POLICY.msMax],
    ['the credential is over', AIP_CLOSE.expired, POLICY.msMin],
    ['the gateway stops', AIP_CLOSE.goingAway, POLICY.msMin],
  ])('that says that %s (%i) is dialled again after %i ms', async (_, code, waitMs) => {
    const server = await listen((socket, count) => {
      confirms(socket);
      if (count === 1) socket.on('message', () => socket.close(code));
    });
    const { named } = start([server.url]);
    await seen(2, () => named('registered'));
    expect(named('waiting')).toMatchObject([{ waitMs }]);
    expect(named('disconnected')).toMatchObject([{ code }]);
  });

  it('that says nothing to REGISTER, or goes away before, is no connection', async () => {
    const server = await listen((socket, count) => (count < 3 ? socket.close(1000) : confirms(socket)));
    const { named } = start([server.url]);
    await seen(1, () => named('registered'));
    expect(named('disconnected')).toMatchObject([{ uptimeMs: 0 }, { uptimeMs: 0 }]);
  });

  it('is told goodbye', async () => {
    const closed = Promise.withResolvers<number>();
    const server = await listen((socket) => {
      confirms(socket);
      socket.on('close', closed.resolve);
    });
    const { named, stop } = start([server.url]);
    await seen(1, () => named('registered'));
    await stop();
    expect(await closed.promise).toBe(AIP_CLOSE.goingAway);
  });

  it('learns new tools from a new connection', async () => {
    const server = await listen(confirms);
    const { named, endpoint } = start([server.url, 'ws://127.0.0.1:1/ws']);
    await seen(1, () => named('registered'));
    endpoint.registerAgain('the tools changed');
    await seen(2, () => named('registered'));
    expect(named('not-connected')).toEqual([]);
    expect(named('disconnected')).toMatchObject([{ code: AIP_CLOSE.normal }]);
  });
});

describe('a credential', () => {
  it('that was not believed is followed by the next one at once, when there is one', async () => {
    let tokens = 0;
    const server = await listen(confirms, () => (tokens < 2 ? 401 : 101));
    const credential = (): Promise<string> => Promise.resolve(`token-${++tokens}`);
    const { facts } = start([server.url], { credential, disbelieved: () => true });
    await until(() => (facts.some(({ fact }) => fact === 'registered') ? true : undefined));
    expect(facts).toMatchObject([
      { fact: 'not-connected', status: 401, reason: 'the server does not accept the credential' },
      { fact: 'registered' },
    ]);
  });

  it('that a person has to replace is asked for seldom', async () => {
    let asked = 0;
    const server = await listen(confirms);
    const credential = (): Promise<string> =>
      asked++ === 0 ? Promise.reject(new Unwelcome('revoked')) : Promise.resolve('t');
    const { named } = start([server.url], { credential });
    await seen(1, () => named('registered'));
    expect(named('not-connected')).toMatchObject([{ status: null, reason: 'revoked' }]);
    expect(named('waiting')).toMatchObject([{ waitMs: POLICY.msMax }]);
  });

  it('stands in the address for servers that want it there, and in no log', async () => {
    const server = await listen(confirms);
    const { facts, named } = start([`${server.url}?room=1`], { credentialIn: 'query' });
    await seen(1, () => named('registered'));
    expect(server.requests[0]?.url).toBe('/ws?room=1&token=canary');
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
    expect(JSON.stringify(facts)).not.toContain('canary');
    expect(named('registered')[0]?.address).toBe(server.url);
  });
});

describe('the end of a device client', () => {
  it('that comes in the moment in which a connection is made ends that connection as well', async () => {
    const wire = linkedPair();
    const { left, right } = wire;
    right.handle({ frame: () => right.send(CONFIRMED), closed: () => undefined });
    const { ending, running } = start(['ws://127.0.0.1:9/ws'], {
      connect: async () => {
        ending.abort();
        // Without a goodbye it would be confirmed, and live on.
        setTimeout(() => wire.deliver(), 50);
        return left;
      },
    });
    await running;
    expect(ending.signal.aborted).toBe(true);
  });
});
