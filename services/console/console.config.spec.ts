import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { readConsoleConfig } from './console.config.js';

const folder = mkdtempSync(join(tmpdir(), 'orrery-console-'));
afterAll(() => rmSync(folder, { recursive: true }));

function withToken(text: string): { ORRERY_CONSOLE_TOKEN_FILE: string } {
  const file = join(folder, 'token');
  writeFileSync(file, text);
  return { ORRERY_CONSOLE_TOKEN_FILE: file };
}

describe('readConsoleConfig', () => {
  it('reads the hash, the port and further hosts', () => {
    const env = {
      ...withToken(`${'aB'.repeat(32)}\n`),
      ORRERY_CONSOLE_HOSTS: 'A.example, b.example,',
      ORRERY_CONSOLE_PORT: '0',
    };
    const config = readConsoleConfig(env);
    expect([config.port, config.hosts, config.adminTokenFile]).toEqual([
      0,
      ['a.example', 'b.example'],
      env.ORRERY_CONSOLE_TOKEN_FILE,
    ]);
    expect(readConsoleConfig(withToken('0'.repeat(64))).port).toBe(8080);
  });

  it.each(['', 'the-token-itself', 'ab'.repeat(31), `${'ab'.repeat(32)} x`])('refuses a file that holds %j', (text) =>
    expect(() => readConsoleConfig(withToken(text))).toThrow('must hold a SHA-256 in hex, or "off", and nothing else'),
  );

  it('refuses to run without a hash, and never shows what it read', () => {
    expect(() => readConsoleConfig({})).toThrow('ORRERY_CONSOLE_TOKEN_FILE');
    expect(() => readConsoleConfig({ ORRERY_CONSOLE_TOKEN_FILE: '/does/not/exist' })).toThrow('cannot be read');
    expect(() => readConsoleConfig(withToken('s3cret'))).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining('s3cret') }),
    );
  });

  it('takes the word off for a token that lets nobody in', () =>
    expect(readConsoleConfig(withToken('off\n')).port).toBe(8080));

  const oidc = (change: Record<string, string> = {}) =>
    readConsoleConfig({
      ...withToken('off'),
      ORRERY_CONSOLE_URL: 'https://ops.example:8443/',
      ORRERY_OIDC_ISSUER: 'https://id.example',
      ORRERY_OIDC_CLIENT_ID: 'orrery',
      ...change,
    });

  it('reads the identity provider, and where it sends browsers back to', () => {
    const { oidc: provider, hosts, origin } = oidc();
    expect([provider?.redirectUri, provider?.clientSecret, hosts, origin]).toEqual([
      'https://ops.example:8443/login/callback',
      undefined,
      ['ops.example'],
      'https://ops.example:8443',
    ]);
    const local = { ORRERY_OIDC_ISSUER: 'http://127.0.0.1:9', ORRERY_CONSOLE_URL: 'http://localhost:1' };
    expect(oidc(local).oidc?.issuer.href).toBe('http://127.0.0.1:9/');
  });

  it.each<[Record<string, string>, string]>([
    [{ ORRERY_OIDC_ISSUER: 'http://id.example' }, 'ORRERY_OIDC_ISSUER must begin with https://'],
    [{ ORRERY_OIDC_ISSUER: 'http://127.0.0.1.evil.example' }, 'ORRERY_OIDC_ISSUER must begin with https://'],
    [{ ORRERY_CONSOLE_URL: 'http://ops.example' }, 'ORRERY_CONSOLE_URL must begin with https://'],
    [{ ORRERY_CONSOLE_URL: '' }, 'ORRERY_CONSOLE_URL is not set'],
    [{ ORRERY_OIDC_CLIENT_ID: '' }, 'ORRERY_OIDC_CLIENT_ID is not set'],
    [{ ORRERY_OIDC_CLIENT_SECRET_FILE: '/none' }, 'ORRERY_OIDC_CLIENT_SECRET_FILE names a file that cannot be read'],
  ])('refuses %j', (change, sentence) => expect(() => oidc(change)).toThrow(sentence));

  it('refuses a client secret that others can read', () => {
    const file = join(folder, 'secret');
    writeFileSync(file, 'S\n', { mode: 0o600 });
    expect(oidc({ ORRERY_OIDC_CLIENT_SECRET_FILE: file }).oidc?.clientSecret).toBe('S');
    chmodSync(file, 0o640);
    expect(() => oidc({ ORRERY_OIDC_CLIENT_SECRET_FILE: file })).toThrow('its mode must be 0600');
  });
});
