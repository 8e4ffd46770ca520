import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { AppFiles, appFolder } from './app-files.adapter.js';

/** What is promised to people with a slow line: all of a first page, as it comes through the wire. */
const FIRST_LOAD_BYTES = 350_000;

let server: Server;
let port: number;
beforeAll(async () => {
  const files = new AppFiles(appFolder());
  server = createServer((request, response) => void files.serve(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

interface Loaded {
  readonly text: string;
  /** All that came, heads too. */
  readonly bytes: number;
}
const known = new Map<string, Promise<Loaded>>();

/** As a browser asks, each with a connection of its own. */
function load(path: string): Promise<Loaded> {
  const asked = known.get(path) ?? ask(path);
  known.set(path, asked);
  return asked;
}

async function ask(path: string): Promise<Loaded> {
  const sent = get({
    host: '127.0.0.1',
    port,
    path,
    agent: false,
    headers: { 'accept-encoding': 'gzip, deflate, br' },
  });
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const body = await buffer(response);
  expect([path, response.statusCode, response.headers['content-encoding']]).toEqual([path, 200, 'br']);
  return { text: brotliDecompressSync(body).toString('utf8'), bytes: sent.socket?.bytesRead ?? Number.NaN };
}

/** What a page names in its head. */
const namedBy = (html: string): string[] =>
  [...html.matchAll(/(?:src|href)="(\/[^"]+)"/gu)].map(([, path = '']) => path);
/** What a script is nothing without. */
const neededBy = (script: string): string[] =>
  [...script.matchAll(/(?:\bfrom|\bimport)\s*["']\.\/([^"']+)["']/gu)].map(([, name = '']) => `/assets/${name}`);
/** What a script loads when somebody goes there. */
const pagesOf = (script: string): string[] =>
  [...script.matchAll(/\bimport\(\s*[`"']\.\/([^`"']+)[`"']\s*\)/gu)].map(([, name = '']) => `/assets/${name}`);

/** All that comes before something of these is seen. */
async function loadedFor(paths: readonly string[]): Promise<number> {
  const all = new Set(paths);
  let bytes = 0;
  for (const path of all) {
    const loaded = await load(path);
    bytes += loaded.bytes;
    const named = path === '/' ? namedBy(loaded.text) : path.endsWith('.js') ? neededBy(loaded.text) : [];
    for (const next of named) all.add(next);
  }
  return bytes;
}

it('is at most 350 kB compressed, whichever page is the first', async () => {
  const [entry = ''] = namedBy((await load('/')).text).filter((path) => path.endsWith('.js'));
  const pages = pagesOf((await load(entry)).text);
  // The run, the fleet, people and others.
  expect(pages.length).toBeGreaterThan(5);
  const first = await loadedFor(['/']);
  // It is looked at what a browser loads: the application itself is a good part of what is allowed.
  expect(first).toBeGreaterThan(FIRST_LOAD_BYTES / 3);
  for (const page of pages) {
    const bytes = await loadedFor(['/', page]);
    expect([page, bytes > FIRST_LOAD_BYTES ? `${bytes} bytes` : 'fits']).toEqual([page, 'fits']);
  }
});
