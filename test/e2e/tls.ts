import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { connect } from 'node:tls';
import { describe, expect, it } from '@jest/globals';
import { makeTestAuthority, type TestCertificate } from '#libs/testing';
import { COMPILE_CACHE, type TestSystem, until } from './system.js';

const CLIENT = resolve(import.meta.dirname, '../../dist/services/device-client/main.js');
const authority = makeTestAuthority();
const clients = makeTestAuthority();

/** Certificates of a gateway, in files. */
export class GatewayCertificates {
  readonly #dir: string;

  private constructor(dir: string) {
    this.#dir = dir;
  }

  static async make(): Promise<GatewayCertificates> {
    const made = new GatewayCertificates(await mkdtemp(join(tmpdir(), 'orrery-tls-')));
    await made.install(authority.issue('127.0.0.1', 'before'));
    await writeFile(made.file('ca.pem'), authority.cert);
    return made;
  }

  /** What a system is told that is to have them, and whose own devices are to trust them. */
  get env(): NodeJS.ProcessEnv {
    return {
      ORRERY_AIP_TLS_CERT_FILE: this.file('cert.pem'),
      ORRERY_AIP_TLS_KEY_FILE: this.file('key.pem'),
      NODE_EXTRA_CA_CERTS: this.file('ca.pem'),
    };
  }

  file(name: string): string {
    return join(this.#dir, name);
  }

  async install({ cert, key }: TestCertificate): Promise<void> {
    await writeFile(this.file('key.pem'), key, { mode: 0o600 });
    await writeFile(this.file('cert.pem'), cert);
  }

  remove(): Promise<void> {
    return rm(this.#dir, { recursive: true, force: true });
  }
}

/** What a gateway with a certificate shows, and which devices come to it; the system was started with `certificates.env`. */
export function testsOfTls(system: () => TestSystem, certificates: () => GatewayCertificates): void {
  const file = (name: string): string => certificates().file(name);
  const url = async (): Promise<string> => (await system().endpoints()).aip;

  /** Runs `orrery-device join` until it has said the text, or has ended; resolves with all that it said. */
  async function device(id: string, text: string, ...more: readonly string[]): Promise<string> {
    const { token } = await system().json<{ token: string }>('devices', 'enroll', '--id', id);
    const child = spawn(process.execPath, [CLIENT, 'join', '--url', await url(), '--data-dir', file(id), ...more], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: COMPILE_CACHE },
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
    const port = Number(new URL(await url()).port);
    const { promise, resolve: found, reject } = Promise.withResolvers<string>();
    const socket = connect({ port, host: '127.0.0.1', ca: authority.cert }, () =>
      found(socket.getPeerCertificate().subjectaltname ?? ''),
    );
    socket.on('error', reject);
    return promise.finally(() => socket.destroy());
  }

  describe('a system whose gateway has a certificate', () => {
    it('has its own devices on it, and lets others join who trust it', async () => {
      expect(await url()).toMatch(/^wss:/u);
      expect(await device('tls-1', '"msg":"registered"', '--ca-file', file('ca.pem'))).toContain('"msg":"registered"');
      const suspicious = await device('tls-2', '"msg":"not joined yet');
      expect(suspicious).toContain('certificate');
      expect(suspicious).not.toContain('"msg":"joined"');
    });

    it('shows a renewed one after SIGHUP, without a restart', async () => {
      const gateway = await system().pidOf('aip-gateway');
      expect(await shown()).toContain('before');
      await certificates().install(authority.issue('127.0.0.1', 'after'));
      process.kill(gateway, 'SIGHUP');
      await until('the renewed certificate', async () => (await shown()).includes('after') || undefined);
      expect(await system().pidOf('aip-gateway')).toBe(gateway);
    });
  });

  describe('a device with a certificate of its own', () => {
    it('is told when the two files are not one', async () => {
      const [one, other] = [clients.issue('tls-3'), clients.issue('tls-4')];
      await writeFile(file('client-cert.pem'), one.cert);
      await writeFile(file('client-key.pem'), other.key);
      const files = ['--cert-file', file('client-cert.pem'), '--key-file', file('client-key.pem')];
      expect(await device('tls-3', 'orrery-device:', ...files)).toContain('the key that of the certificate');
    });
  });
}
