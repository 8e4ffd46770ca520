import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { FakeDevice } from '#libs/testing';
import { AIP_LIMITS } from '#proto';
import type { Identity } from '#proto';
import { run, TestBench, until, type BenchGateway } from '../testing/test-bench.adapter.js';

let bench: TestBench;
beforeAll(async () => {
  bench = await TestBench.start();
});
afterEach(() => bench.clear());
afterAll(() => bench.stop());

const portOf = ({ url }: BenchGateway): number => Number(new URL(url).port);

async function works(gateway: BenchGateway, deviceId: string): Promise<void> {
  const device = await bench.device(gateway, deviceId);
  expect(await bench.ask(run(device, 'a'))).toMatchObject({ state: 'finished' });
}

/** As a device does that finds its gateway busy: it comes again. */
async function worksAfterTries(gateway: BenchGateway, deviceId: string): Promise<void> {
  const device = await until(
    () => bench.device(gateway, deviceId).catch(() => undefined),
    (connected) => connected !== undefined,
  );
  if (device === undefined) throw new Error(`${deviceId} did not get in`);
  expect(await bench.ask(run(device, 'a'))).toMatchObject({ state: 'finished' });
}

/** What the other end says until it closes. */
async function untilClosed(socket: Socket): Promise<string> {
  let said = '';
  socket.on('data', (chunk: Buffer) => (said += chunk.toString()));
  socket.on('error', () => undefined);
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.on('close', () => resolve());
  await promise;
  return said;
}

describe('sockets without a handshake', () => {
  const SOCKETS = 10_000;
  /** Of this process and of the one that opens the sockets. */
  const SPARE_FILES = 1_000;
  /** Fewer than are opened at a time: on a machine that is busy the first are gone before the last has come. */
  const SOCKETS_AT_ONCE_MIN = 100;
  const LOOK_MS = 10;

  async function filesMax(): Promise<number> {
    const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
    return Number(/^Max open files\s+(\d+)/mu.exec(limits)?.[1] ?? SOCKETS + SPARE_FILES);
  }

  it('ten thousand of them keep no device away, and are gone when their time is over', async () => {
    const gateway = await bench.gateway();
    const count = Math.min(SOCKETS, (await filesMax()) - SPARE_FILES);
    const program = join(import.meta.dirname, '../testing/silent-sockets.ts');
    const startedAt = performance.now();
    const child = spawn(process.execPath, [program, String(portOf(gateway)), String(count)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    try {
      let most = 0;
      const looking = setInterval(() => (most = Math.max(most, gateway.sockets.unprovenCount)), LOOK_MS);
      const [opened] = (await once(createInterface(child.stdout), 'line')) as [string];
      clearInterval(looking);
      expect(opened).toBe(`opened ${count}`);
      expect(most).toBeGreaterThan(SOCKETS_AT_ONCE_MIN);
      await worksAfterTries(gateway, 'h1');
      await until(
        async () => gateway.sockets.unprovenCount,
        (left) => left === 0,
      );
      expect(performance.now() - startedAt).toBeGreaterThan(AIP_LIMITS.handshakeMs * 0.9);
      await works(gateway, 'h2');
    } finally {
      child.kill();
    }
  });

  it('a byte a second buys no more time than silence, in a head and in a body', async () => {
    const gateway = await bench.gateway();
    /** What it is told that says the first words at once, and then one letter every second for as long as anybody listens. */
    const slowly = async (first: string, rest = ''): Promise<string> => {
      const socket = connect(portOf(gateway), '127.0.0.1');
      socket.write(first);
      let at = 0;
      const trickle = setInterval(() => socket.write(rest[at++] ?? ' '), 1_000);
      const said = await untilClosed(socket);
      clearInterval(trickle);
      return said;
    };
    const [head, body] = await Promise.all([
      slowly('G', 'ET /ws HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer token-slow\r\n'),
      slowly('POST /v1/join HTTP/1.1\r\nHost: gateway\r\nContent-Length: 1000\r\n\r\n{'),
    ]);
    expect(head).not.toContain(' 101 ');
    expect(body).not.toContain(' 200 ');
    await works(gateway, 'h3');
  });

  it('headers that are too large are refused before they are read to the end', async () => {
    const gateway = await bench.gateway();
    const socket = connect(portOf(gateway), '127.0.0.1');
    socket.write(`GET /ws HTTP/1.1\r\nHost: gateway\r\nX: ${'x'.repeat(9_000)}`);
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1\.1 431 /u);
    await works(gateway, 'h4');
  });
});

describe('logins', () => {
  /** A limit for what hangs: thousands of them take their time on a busy machine. */
  const HANGS_MS = 600_000;
  const inside: Duplex[] = [];
  afterEach(() => inside.splice(0).forEach((socket) => socket.destroy()));

  /** The status of the answer to an upgrade; who gets in stays until the test is over. */
  function knock(gateway: BenchGateway, bearer: string): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const headers = {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==',
      Authorization: `Bearer ${bearer}`,
    };
    const knocking = request({ port: portOf(gateway), path: '/ws', headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    knocking.on('upgrade', (_, socket) => {
      inside.push(socket);
      resolve(101);
    });
    knocking.on('error', reject);
    knocking.end();
    return promise;
  }

  it(
    'thousands that fail do not starve a good one',
    async () => {
      const LEAST = 2_000;
      const AT_ONCE = 600; // more than may ask the registry at the same time
      const gateway = await bench.gateway();
      let knocks = 0;
      const good = { isIn: false };
      const ends = new Map<number | string, number>();
      const attack = async (): Promise<void> => {
        // It lasts until the good ones are in, however long that takes.
        while (!good.isIn || knocks < LEAST) {
          // Who had to wait for as long as a handshake may take is cut: a machine that is busy with something else comes that far.
          const end = await knock(gateway, `wrong-${++knocks}`).catch(() => 'cut');
          ends.set(end, (ends.get(end) ?? 0) + 1);
        }
      };
      const attacks = Promise.all(Array.from({ length: AT_ONCE }, attack));
      for (let index = 0; index < 5; index++) await worksAfterTries(gateway, `good${index}`);
      good.isIn = true;
      await attacks;
      expect([...ends.keys()].filter((end) => end !== 'cut')).toEqual([401]);
      expect([...ends.values()].reduce((sum, count) => sum + count)).toBe(knocks);
    },
    HANGS_MS,
  );

  it('of more connections than allowed are refused, also when they come in the same moment', async () => {
    const all = Promise.withResolvers<void>();
    let asked = 0;
    // Everybody is answered in the same moment.
    const identify = async (bearer: string): Promise<Identity> => {
      if (++asked >= 8) all.resolve();
      await all.promise;
      return { id: bearer, role: 'device', targets: null, expiresAt: null };
    };
    const gateway = await bench.gateway({ endpoint: { connectionsMax: 3 }, registry: { identify } });
    const statuses = await Promise.all(Array.from({ length: 8 }, (_, index) => knock(gateway, `many${index}`)));
    expect(statuses.filter((status) => status === 101)).toHaveLength(3);
    expect(statuses.filter((status) => status === 503)).toHaveLength(5);
    inside.splice(0).forEach((socket) => socket.destroy());
    await until(
      () => FakeDevice.connect({ url: gateway.url, deviceId: 'later', token: 'later' }).catch(() => undefined),
      (device) => device !== undefined && bench.keep(device) === device,
    );
  });
});
