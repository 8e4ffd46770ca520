import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';
import { moment } from '../servers/moment.js';
import { ownPort } from '../servers/own-port.js';
import { ChaosProxy } from './chaos-proxy.js';

/** A socket with everything that came out of it. */
class Peer {
  readonly socket: Socket;
  text = '';
  /** `end`: the other side has ended in order; an error code when it did not. */
  readonly over: Promise<string>;
  readonly #watchers = new Set<() => void>();

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (bytes: Buffer) => {
      this.text += bytes.toString('latin1');
      for (const look of this.#watchers) look();
    });
    this.over = new Promise((resolve) => {
      socket.once('end', () => resolve('end'));
      socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
    });
  }

  async until(text: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = (): void => {
      if (this.text === text) resolve();
    };
    this.#watchers.add(look);
    look();
    await promise;
  }
}

describe('ChaosProxy', () => {
  let server: Server;
  let proxy: ChaosProxy;
  const peers: Peer[] = [];
  const waiting: ((peer: Peer) => void)[] = [];

  beforeEach(async () => {
    server = createServer({ allowHalfOpen: true }, (socket) => {
      const peer = new Peer(socket);
      peers.push(peer);
      waiting.shift()?.(peer);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    proxy = await ChaosProxy.start(`tcp://127.0.0.1:${(server.address() as AddressInfo).port}`, { seed: 7 });
  });

  afterEach(async () => {
    await proxy.close();
    for (const { socket } of peers.splice(0)) socket.destroy();
    server.close();
  });

  function dial(): Peer {
    const client = new Peer(connect({ host: '127.0.0.1', port: Number(new URL(proxy.url).port), allowHalfOpen: true }));
    peers.push(client);
    return client;
  }

  /** A connection through the proxy, as both of its ends see it. */
  async function pair(): Promise<[client: Peer, server: Peer]> {
    const accepted = new Promise<Peer>((resolve) => void waiting.push(resolve));
    return [dial(), await accepted];
  }

  it('passes bytes and ends on, each direction by itself', async () => {
    const [client, served] = await pair();
    client.socket.end('question');
    expect(await served.over).toBe('end');
    expect(served.text).toBe('question');
    served.socket.end('answer');
    expect(await client.over).toBe('end');
    expect(client.text).toBe('answer');
    expect(proxy.stats).toMatchObject({ taken: 1, cuts: 0, passedBytes: { up: 8, down: 6 } });
  });

  it('delays one direction, each piece by another time, in order', async () => {
    const sent = Array.from({ length: 20 }, (_, index) => String.fromCodePoint(97 + index));
    const begun = performance.now();
    proxy.shape({ delayMs: 30, jitterMs: 20 }, 'up');
    const [client, served] = await pair();
    client.socket.setNoDelay();
    for (const letter of sent) client.socket.write(letter);
    await served.until(sent.join(''));
    expect(performance.now() - begun).toBeGreaterThanOrEqual(30);
    served.socket.write('at once');
    await client.until('at once');
  });

  it('passes no more bytes a second than it may', async () => {
    proxy.shape({ bytesPerSecond: 100_000 }, 'down');
    const [client, served] = await pair();
    const begun = performance.now();
    served.socket.write('x'.repeat(20_000));
    await client.until('x'.repeat(20_000));
    expect(performance.now() - begun).toBeGreaterThanOrEqual(199);
  });

  it.each([
    ['rst', 'ECONNRESET'],
    ['fin', 'end'],
  ] as const)('cuts with %s now', async (how, seen) => {
    const [client, served] = await pair();
    expect(proxy.cut(how)).toBe(1);
    expect(await Promise.all([client.over, served.over])).toEqual([seen, seen]);
    expect(proxy.stats.cuts).toBe(1);
  });

  it('closes both sides of a cut, also when one of them is just ending', async () => {
    const [client, served] = await pair();
    served.socket.end();
    await client.over;
    proxy.cut('fin');
    proxy.cut('rst');
    await until(() => proxy.stats.open === 0);
  });

  it('cuts after so many bytes of a direction, to the byte', async () => {
    const [client, served] = await pair();
    const cut = proxy.cutAfter(5, { how: 'fin', way: 'up' });
    client.socket.write('abc');
    await served.until('abc');
    client.socket.write('defg');
    await cut;
    await Promise.all([client.over, served.over]);
    expect(served.text).toBe('abcde');
    expect(proxy.stats).toMatchObject({ cuts: 1, passedBytes: { up: 5 } });
  });

  it('goes silent without a word, in one direction or both, and never makes a hole', async () => {
    const [client, served] = await pair();
    client.socket.write('1');
    await served.until('1');
    proxy.goSilent('up');
    client.socket.write('2');
    served.socket.write('still heard');
    await client.until('still heard');
    client.socket.end('3');
    await until(() => proxy.stats.lostBytes.up === 2);
    const cut = [served.over];
    proxy.mend();
    expect(await Promise.race(cut)).toBe('ECONNRESET');
    expect(served.text).toBe('1');
    const [again, servedAgain] = await pair();
    again.socket.write('4');
    await servedAgain.until('4');
  });

  it('lets nobody reach the server while it is silent in both directions', async () => {
    proxy.goSilent();
    const client = dial();
    await until(() => proxy.stats.open === 1);
    client.socket.write('hello?');
    proxy.mend();
    expect(await client.over).toBe('ECONNRESET');
    expect(peers).toHaveLength(1);
  });

  it('holds what is said and passes all of it on, in order', async () => {
    const [client, served] = await pair();
    proxy.hold('up');
    client.socket.write('1');
    client.socket.end('2');
    await until(() => proxy.held('up').toString() === '12');
    served.socket.write('heard');
    await client.until('heard');
    expect(served.text).toBe('');
    proxy.release('up');
    expect(await served.over).toBe('end');
    expect(served.text).toBe('12');
  });

  it('refuses who dials, until it accepts', async () => {
    proxy.refuse();
    expect(await dial().over).toBe('ECONNRESET');
    proxy.accept();
    await pair();
    expect(proxy.stats).toMatchObject({ refused: 1, taken: 1 });
  });

  it('flaps until it is calm', async () => {
    const [client] = await pair();
    proxy.flap({ upMs: 30, downMs: 10 });
    expect(await client.over).toBe('ECONNRESET');
    expect(await dial().over).toBe('ECONNRESET');
    await until(async () => {
      const next = dial();
      const fate = await Promise.race([next.over, once(next.socket, 'connect').then(() => next.over)]);
      return fate === 'ECONNRESET' && proxy.stats.cuts >= 3;
    });
    proxy.calm();
    const [calm, served] = await pair();
    calm.socket.write('calm');
    await served.until('calm');
  });

  it('dials where it is aimed at, and passes on that nobody is there', async () => {
    proxy.aim(`tcp://127.0.0.1:${await ownPort()}`);
    expect(await dial().over).toBe('ECONNRESET');
  });

  describe('of WebSockets', () => {
    let sockets: WebSocketServer;

    beforeEach(async () => {
      sockets = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
      await once(sockets, 'listening');
      proxy.aim(`ws://127.0.0.1:${(sockets.address() as AddressInfo).port}`);
    });

    afterEach(() => {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
    });

    async function open(): Promise<[client: WebSocket, served: WebSocket, texts: string[][]]> {
      const client = new WebSocket(proxy.url.replace('tcp:', 'ws:'), { perMessageDeflate: false });
      const [served] = (await once(sockets, 'connection')) as [WebSocket];
      if (client.readyState !== WebSocket.OPEN) await once(client, 'open');
      const texts = [client, served].map((socket) => {
        const heard: string[] = [];
        socket.on('message', (data: Buffer) => heard.push(data.toString()));
        socket.on('error', () => undefined);
        return heard;
      });
      return [client, served, texts];
    }

    it.each([
      ['up', 2, 'rst'],
      ['down', 2, 'rst'],
      ['up', 126, 'rst'],
      ['down', 1_000, 'rst'],
      // A reset overtakes what is still on its way; an end does not.
      ['up', 70_000, 'fin'],
      ['down', 70_000, 'fin'],
    ] as const)('cuts in the middle of a frame that goes %s with %i bytes, with %s', async (way, size, how) => {
      const [client, served, texts] = await open();
      const [speaker, listener] = way === 'up' ? [client, served] : [served, client];
      const heard = texts[way === 'up' ? 1 : 0];
      speaker.send('whole');
      speaker.ping('not a frame with data in it');
      await until(() => heard?.length === 1);
      const { passedBytes } = proxy.stats;
      const cut = proxy.cutInFrame({ way, how, bytesMin: size });
      speaker.ping('x'.repeat(100));
      speaker.send('y'.repeat(size - 1));
      speaker.send('z'.repeat(size));
      const [[code]] = (await Promise.all([once(listener, 'close'), once(speaker, 'close'), cut])) as [
        [number],
        unknown,
        unknown,
      ];
      expect(code).toBe(1006);
      expect(heard?.map(({ length }) => length)).toEqual(['whole'.length, size - 1]);
      const [mask, header] = [way === 'up' ? 4 : 0, (length: number) => (length < 126 ? 2 : length < 65_536 ? 4 : 10)];
      const frame = (length: number): number => header(length) + mask + length;
      const expected = frame(100) + frame(size - 1) + header(size) + mask + (size >> 1);
      expect(proxy.stats.passedBytes[way] - passedBytes[way]).toBe(expected);
    });
  });
});

/** The test's own limit ends it. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await moment();
}
