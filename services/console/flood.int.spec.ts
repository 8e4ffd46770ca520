import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream } from '@nats-io/jetstream';
import { tokenHash } from '#libs/keys';
import { connectBus } from '#libs/messaging';
import { startTestNats, type TestNats } from '#libs/testing';
import { LIMITS, subjects } from '#proto';

const TOKEN = 'the-admin-token';
const RSS_BYTES_MAX = 200 * 1024 * 1024;
const HALF_OPEN = 600;
const STREAMS = 800;
const PIECE = 'x'.repeat(LIMITS.requestBytesMax / 2);

const folder = mkdtempSync(join(tmpdir(), 'orrery-flood-'));
const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const sockets: Socket[] = [];
let server: TestNats;
let child: ChildProcess;
let port: number;

beforeAll(async () => {
  server = await startTestNats({ provisioned: true });
  const nc = await connectBus({ url: server.url, name: 'test', inboxPrefix: '_INBOX_test' });
  await jetstream(nc).publish(subjects.run('run-1'), '{}');
  await nc.close();
  const tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, tokenHash(TOKEN));
  // As it is run, with the flags that the launcher and the images give it: a compiler would be measured with it.
  child = fork(here('../../dist/services/console/main.js'), {
    execArgv: ['--max-semi-space-size=8', '--max-old-space-size=512'],
    env: {
      PATH: process.env['PATH'],
      ORRERY_NATS_URL: server.url,
      ORRERY_ALLOW_UNSAFE_LOG: '1',
      ORRERY_LOG_LEVEL: 'silent',
      ORRERY_CONSOLE_PORT: '0',
      ORRERY_CONSOLE_TOKEN_FILE: tokenFile,
    },
  });
  const [ready] = (await once(child, 'message')) as [{ ports: { console: number } }];
  port = ready.ports.console;
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(async () => {
  child.kill('SIGKILL');
  await server.stop();
  rmSync(folder, { recursive: true });
});

/** What the console holds in memory, by its own metrics; that it answers shows that others are served. */
async function residentBytes(): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();

  const [, bytes] = /^process_resident_memory_bytes\{[^}]*\} (\d+)/mu.exec(text) ?? [];
  return Number(bytes);
}

/** One who sends this and takes in nothing but the first line of the answer; undefined while there is none. */
function send(
  head: readonly string[],
  body = '',
): { readonly line: () => string | undefined; readonly answered: Promise<unknown> } {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  let text = '';
  const { promise: answered, resolve } = Promise.withResolvers<void>();
  socket.on('error', () => resolve()).on('close', () => resolve());
  socket.on('data', (chunk) => {
    text += String(chunk);
    resolve();
  });
  socket.write([...head, 'Host: localhost', `Authorization: Bearer ${TOKEN}`, '', body].join('\r\n'));
  return { line: () => /^HTTP\/1\.1 (\d+)/u.exec(text)?.[1], answered };
}

describe('the console under a flood of one caller', () => {
  it(`stays small when ${HALF_OPEN} bodies are half sent, and answers`, async () => {
    const head = ['POST /v1/requests HTTP/1.1', `Content-Length: ${LIMITS.requestBytesMax}`];
    const sent = Array.from({ length: HALF_OPEN }, () => send(head, PIECE));
    const { promise: settled, resolve } = Promise.withResolvers<void>();
    let refused = 0;
    for (const { answered } of sent) void answered.then(() => (++refused >= HALF_OPEN - 64 ? resolve() : undefined));
    await settled;
    expect(await residentBytes()).toBeLessThan(RSS_BYTES_MAX);
    expect(sent.filter(({ line }) => line() !== undefined).every(({ line }) => line() === '429')).toBe(true);
  });

  it(`stays small when ${STREAMS} streams are asked for, and answers`, async () => {
    const sent = Array.from({ length: STREAMS }, () => send(['GET /v1/runs/run-1/events HTTP/1.1']));
    await Promise.all(sent.map(({ answered }) => answered));
    expect(await residentBytes()).toBeLessThan(RSS_BYTES_MAX);
    const lines = sent.map(({ line }) => line());
    expect([lines.filter((line) => line === '200').length, new Set(lines)]).toEqual([64, new Set(['200', '429'])]);
  });
});
