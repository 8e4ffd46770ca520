import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type ConnectionOptions, type PeerCertificate } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { connectWs } from '#libs/aip';
import { ConfigError, systemClock } from '#libs/platform';
import { makeTestAuthority, type TestCertificate } from '#libs/testing';
import { TestBench, until, type BenchGateway } from '../testing/test-bench.adapter.js';
import type { TlsFiles } from './tls-files.adapter.js';

const authority = makeTestAuthority();
const ca = authority.cert;
let bench: TestBench;
let dir: string;
beforeAll(async () => {
  bench = await TestBench.start();
  dir = await mkdtemp(join(tmpdir(), 'orrery-tls-'));
});
afterEach(() => bench.clear());
afterAll(async () => {
  await bench.stop();
  await rm(dir, { recursive: true, force: true });
});

const files = (clientCaFile?: string): TlsFiles => ({
  certFile: join(dir, 'cert.pem'),
  keyFile: join(dir, 'key.pem'),
  clientCaFile,
});

async function install({ cert, key }: TestCertificate): Promise<void> {
  await writeFile(join(dir, 'key.pem'), key, { mode: 0o600 });
  await writeFile(join(dir, 'cert.pem'), cert);
}

async function gatewayWith(tls: TlsFiles): Promise<BenchGateway> {
  const gateway = await bench.gateway({ endpoint: { tls } });
  return { ...gateway, url: gateway.url.replace('ws:', 'wss:') };
}

const portOf = ({ url }: BenchGateway): number => Number(new URL(url).port);

function dial({ url }: BenchGateway, tls: { ca?: string; cert?: string; key?: string }) {
  return connectWs({ url, token: 'token-t1', tls, clock: systemClock });
}

/** What the server shows to somebody new. */
async function shown(gateway: BenchGateway, options: ConnectionOptions = {}): Promise<PeerCertificate> {
  const { promise, resolve, reject } = Promise.withResolvers<PeerCertificate>();
  const socket = connect({ port: portOf(gateway), host: '127.0.0.1', ca, ...options }, () =>
    resolve(socket.getPeerCertificate()),
  );
  socket.on('error', reject);
  return promise.finally(() => socket.destroy());
}

describe('a gateway with a certificate', () => {
  it('lets in who trusts it, and nobody who does not', async () => {
    await install(authority.issue('127.0.0.1'));
    const gateway = await gatewayWith(files());
    const transport = await dial(gateway, { ca });
    transport.close(1000, '');
    await expect(dial(gateway, {})).rejects.toMatchObject({ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' });
    await expect(dial(gateway, { ca: makeTestAuthority().cert })).rejects.toThrow();
  });

  it('gives credentials over it, and speaks no old version', async () => {
    await install(authority.issue('127.0.0.1'));
    const gateway = await gatewayWith(files());
    const { promise, resolve } = Promise.withResolvers<number>();
    const target = { port: portOf(gateway), path: '/v1/credential', method: 'POST', ca, agent: false };
    request({ ...target, host: '127.0.0.1' }, (response) => resolve(response.statusCode ?? 0)).end('{}');
    expect(await promise).toBe(400);
    await expect(shown(gateway, { maxVersion: 'TLSv1.1', minVersion: 'TLSv1' })).rejects.toThrow();
    await shown(gateway, { maxVersion: 'TLSv1.2' });
  });

  it('has closed a socket that never says hello when its time is over', async () => {
    await install(authority.issue('127.0.0.1'));
    const gateway = await gatewayWith(files());
    const { connect: connectTcp } = await import('node:net');
    const socket = connectTcp(portOf(gateway), '127.0.0.1');
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    socket.on('close', () => resolve());
    await once(socket, 'connect');
    socket.on('error', () => undefined);
    await closed;
    await until(
      async () => gateway.sockets.unprovenCount,
      (count) => count === 0,
    );
  });

  it('shows a renewed one without a restart, and keeps who is connected', async () => {
    await install(authority.issue('127.0.0.1', 'before'));
    const gateway = await gatewayWith(files());
    const transport = await dial(gateway, { ca });
    await install(authority.issue('127.0.0.1', 'after'));
    process.emit('SIGHUP');
    await until(
      () => shown(gateway),
      ({ subjectaltname }) => subjectaltname?.includes('after') === true,
    );
    expect(transport.congested).toBe(false);
    // The same without a signal.
    await install(authority.issue('127.0.0.1', 'later'));
    await until(
      () => shown(gateway),
      ({ subjectaltname }) => subjectaltname?.includes('later') === true,
    );
    transport.close(1000, '');
  });

  it('goes on with the old one while the files do not fit together', async () => {
    const [old, other] = [authority.issue('127.0.0.1', 'old'), authority.issue('127.0.0.1', 'new')];
    await install(old);
    const gateway = await gatewayWith(files());
    // In this order no key is ever beside a certificate that it fits: the gateway looks at the files by itself, too.
    for (const broken of [
      { ...other, key: old.key },
      { ...old, cert: '' },
      { ...other, key: 'no key' },
    ]) {
      await install(broken);
      process.emit('SIGHUP');
      expect((await shown(gateway)).subjectaltname).toContain('old');
    }
    await install(other);
    process.emit('SIGHUP');
    const seen = await until(
      () => shown(gateway),
      ({ subjectaltname }) => subjectaltname?.includes('new') === true,
    );
    expect(seen.subjectaltname).toContain('new');
  });

  it('does not start with files that cannot be used', async () => {
    await install({ cert: authority.issue('127.0.0.1').cert, key: authority.issue('127.0.0.1').key });
    await expect(gatewayWith(files())).rejects.toThrow(ConfigError);
    await expect(gatewayWith({ ...files(), certFile: join(dir, 'gone') })).rejects.toThrow(
      'ORRERY_AIP_TLS_CERT_FILE names a file that cannot be read (ENOENT).',
    );
  });
});

describe('a gateway without a certificate', () => {
  it.each([
    ['0.0.0.0', true],
    ['::', true],
    ['127.0.0.1', false],
    ['127.8.8.8', false],
    ['localhost', false],
  ])('that listens on %s: a warning is written: %s', async (bind, warned) => {
    let log = '';
    const logger = pino({ level: 'warn' }, { write: (line: string) => void (log += line) });
    await bench.gateway({ endpoint: { bind }, logger });
    expect(log.includes('without TLS')).toBe(warned);
  });
});

describe('a gateway that wants certificates of clients', () => {
  it('lets in who has one of the right authority', async () => {
    await install(authority.issue('127.0.0.1'));
    const clients = makeTestAuthority();
    await writeFile(join(dir, 'clients.pem'), clients.cert);
    const gateway = await gatewayWith(files(join(dir, 'clients.pem')));
    const transport = await dial(gateway, { ca, ...clients.issue('device-1') });
    transport.close(1000, '');
    await expect(dial(gateway, { ca })).rejects.toThrow();
    await expect(dial(gateway, { ca, ...makeTestAuthority().issue('device-1') })).rejects.toThrow();
  });
});
