import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { connect } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { makeTestAuthority, type TestCertificate } from '#libs/testing';
import { TestSystem, until } from './system.js';

const CLIENT = resolve(import.meta.dirname, '../../dist/services/device-client/main.js');
const authority = makeTestAuthority();
const clients = makeTestAuthority();

let system: TestSystem;
let dir: string;
let url: string;
let settings: Record<string, string>;

const file = (name: string): string => join(dir, name);

async function install({ cert, key }: TestCertificate): Promise<void> {
  await writeFile(file('key.pem'), key, { mode: 0o600 });
  await writeFile(file('cert.pem'), cert);
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'orrery-tls-'));
  await install(authority.issue('127.0.0.1', 'before'));
  await writeFile(file('ca.pem'), authority.cert);
  settings = {
    ORRERY_AIP_TLS_CERT_FILE: file('cert.pem'),
    ORRERY_AIP_TLS_KEY_FILE: file('key.pem'),
    NODE_EXTRA_CA_CERTS: file('ca.pem'),
  };
  Object.assign(process.env, settings);
  system = await TestSystem.start('--devices', '1');
  url = (await system.endpoints()).aip;
});
afterAll(async () => {
  for (const name of Object.keys(settings)) delete process.env[name];
  await system.stop();
  await rm(dir, { recursive: true, force: true });
});

/** Runs `orrery-device join` until it has said the text, or has ended; resolves with all that it said. */
async function device(id: string, text: string, ...more: readonly string[]): Promise<string> {
  const { token } = await system.json<{ token: string }>('devices', 'enroll', '--id', id);
  const child = spawn(process.execPath, [CLIENT, 'join', '--url', url, '--data-dir', file(id), ...more], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] },
  });
  const closed = once(child, 'close'); // what it has said is all here then; at its exit it need not be
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stdin.end(token);
  await until(text, async () => said.includes(text) || child.exitCode !== null || undefined);
  child.kill();
  await closed;
  return said;
}

/** The names in the certificate that the gateway shows now. */
async function shown(): Promise<string> {
  const { promise, resolve: found, reject } = Promise.withResolvers<string>();
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', ca: authority.cert }, () =>
    found(socket.getPeerCertificate().subjectaltname ?? ''),
  );
  socket.on('error', reject);
  return promise.finally(() => socket.destroy());
}

describe('a system whose gateway has a certificate', () => {
  it('has its own devices on it, and lets others join who trust it', async () => {
    expect(url).toMatch(/^wss:/u);
    expect(await device('web-1', '"msg":"registered"', '--ca-file', file('ca.pem'))).toContain('"msg":"registered"');
    const suspicious = await device('web-2', '"msg":"not joined yet');
    expect(suspicious).toContain('certificate');
    expect(suspicious).not.toContain('"msg":"joined"');
  });

  it('shows a renewed one after SIGHUP, without a restart', async () => {
    const gateway = await system.pidOf('aip-gateway');
    expect(await shown()).toContain('before');
    await install(authority.issue('127.0.0.1', 'after'));
    process.kill(gateway, 'SIGHUP');
    await until('the renewed certificate', async () => (await shown()).includes('after') || undefined);
    expect(await system.pidOf('aip-gateway')).toBe(gateway);
  });
});

describe('a device with a certificate of its own', () => {
  it('is told when the two files are not one', async () => {
    const [one, other] = [clients.issue('web-3'), clients.issue('web-4')];
    await writeFile(file('client-cert.pem'), one.cert);
    await writeFile(file('client-key.pem'), other.key);
    const files = ['--cert-file', file('client-cert.pem'), '--key-file', file('client-key.pem')];
    expect(await device('web-3', 'orrery-device:', ...files)).toContain('the key that of the certificate');
  });
});
