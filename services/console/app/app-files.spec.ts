import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AppFiles } from './app-files.adapter.js';
import { encodingFor, isAppPath } from './app-paths.js';
import { APP_POLICY } from './app-policy.js';

const folder = mkdtempSync(join(tmpdir(), 'orrery-app-'));
const SCRIPT = 'export const text = 1;\n'.repeat(200);
let server: Server;
let base: string;

beforeAll(async () => {
  const files = new AppFiles(folder);
  server = createServer((request, response) => void files.serve(request, response)).listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

it('knows what is the application and what is not, also in capitals', () => {
  for (const path of ['/', '/runs/r1', '/assets/a.js', '//healthz', '/v10', '/loginx', '/%2e%2e/v1'])
    expect([path, isAppPath(path)]).toEqual([path, true]);
  for (const path of ['/v1', '/V1/runs', '/login', '/login/code', '/LOGOUT', '/metrics', '/healthz/x', '/openapi.json'])
    expect([path, isAppPath(path)]).toEqual([path, false]);
});

it('takes what the browser takes', () => {
  expect(encodingFor('gzip, deflate, br, zstd')).toBe('br');
  expect(encodingFor('br;q=0, gzip;q=0.5')).toBe('gzip');
  expect(encodingFor('identity')).toBeUndefined();
  expect(encodingFor(undefined)).toBeUndefined();
});

it('may load what is from here, and nothing else', () => {
  expect(APP_POLICY).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
      "worker-src 'self'; manifest-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  );
});

describe('the web application', () => {
  it('says in one sentence that it is not built, and is served as soon as it is', async () => {
    const missing = await fetch(base);
    expect([missing.status, await missing.text()]).toEqual([
      503,
      'The web application of this console is not built: run "npm run build" and start the console again.\n',
    ]);
    mkdirSync(join(folder, 'assets'));
    writeFileSync(join(folder, 'assets/index-1a2b.js'), SCRIPT);
    writeFileSync(join(folder, 'assets/page-3c4d.js'), SCRIPT);
    writeFileSync(join(folder, 'assets/page-3c4d.js.br'), brotliCompressSync('made by the build'));
    writeFileSync(join(folder, 'index.html'), '<!doctype html><title>Orrery</title>');
    expect((await fetch(base)).status).toBe(200);
  });

  it('has its page at every place that is none of its files, always looked at anew', async () => {
    for (const path of ['/', '/runs/0123456789abcdefghjkmnpqrs?at=12', '/fleet']) {
      const response = await fetch(`${base}${path}`);
      expect(await response.text()).toContain('<title>Orrery</title>');
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': APP_POLICY,
        'cache-control': 'no-cache',
      });
      const etag = response.headers.get('etag') ?? '';
      expect((await fetch(`${base}${path}`, { headers: { 'if-none-match': etag } })).status).toBe(304);
    }
  });

  it('has files that never change, as small as the browser takes them', async () => {
    for (const [accepted, encoding] of [
      ['br', 'br'],
      ['gzip', 'gzip'],
      ['identity', null],
    ] as const) {
      const response = await fetch(`${base}/assets/index-1a2b.js`, { headers: { 'accept-encoding': accepted } });
      expect(response.headers.get('content-encoding')).toBe(encoding);
      expect(Number(response.headers.get('content-length'))).toBeLessThanOrEqual(SCRIPT.length);
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
      expect(await response.text()).toBe(SCRIPT);
    }
    const head = await fetch(`${base}/assets/index-1a2b.js`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });

  it('has what the build made small as it is, and only in the place of what it was made of', async () => {
    const as = (accepted: string) =>
      fetch(`${base}/assets/page-3c4d.js`, { headers: { 'accept-encoding': accepted } }).then((got) => got.text());
    expect([await as('br'), await as('gzip')]).toEqual(['made by the build', SCRIPT]);
    expect((await fetch(`${base}/assets/page-3c4d.js.br`)).status).toBe(404);
  });

  it.each(['/assets/other.js', '/assets/..%2f..%2fpackage.json', '/package.json', '/assets/', '/favicon.ico'])(
    'has nothing at %s',
    async (path) => expect((await fetch(`${base}${path}`)).status).toBe(404),
  );
});
