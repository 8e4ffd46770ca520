import { createHash } from 'node:crypto';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, request as ask, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { OfferHttp } from './offer-http.controller.js';

const SCRIPT = '#!/bin/sh\necho installed\n';
const offered = (file: string, text: string) => ({
  file,
  sha256: createHash('sha256').update(text).digest('hex'),
  bytes: Buffer.byteLength(text),
});
const OFFER = {
  release: '0.1.0-abc',
  script: offered('install-abc.sh', SCRIPT),
  archives: { 'linux-x64': offered('orrery-device-0.1.0-abc-linux-x64.tar.gz', 'x'.repeat(100_000)) },
};

let base: string;
let server: Server;
let nowMs = 0;
let long = 0;

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'orrery-offer-'));
  await writeFile(join(base, 'offer.json'), JSON.stringify(OFFER));
  await writeFile(join(base, OFFER.script.file), SCRIPT);
  await writeFile(join(base, OFFER.archives['linux-x64'].file), 'x'.repeat(100_000));
  await writeFile(join(base, 'node-linux-x64-24.gz'), 'beside the offer');
  await symlink('/etc/passwd', join(base, 'passwd'));
  const options = { offerDir: base, clock: { now: () => nowMs }, logger: pino({ level: 'silent' }) };
  const offer = new OfferHttp(options);
  server = createServer((request, response) => {
    if (!offer.handle(request, response, () => (long += 1))) response.writeHead(426).end();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  server.close();
  await rm(base, { recursive: true, force: true });
});

/** The path goes out as it stands here: a client that tidies it up would hide what is asked. */
async function get(path: string, method = 'GET'): Promise<{ status: number; text: string }> {
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    const sent = ask({ port, host: '127.0.0.1', path, method, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

it('gives what is offered to who has no token, whole, with all the time that it takes', async () => {
  expect(JSON.parse((await get('/device/offer.json')).text)).toEqual(OFFER);
  expect(await get(`/device/${OFFER.script.file}`)).toEqual({ status: 200, text: SCRIPT });
  const archive = await get(`/device/${OFFER.archives['linux-x64'].file}?mirror=1`);
  expect([archive.status, archive.text.length, long]).toEqual([200, 100_000, 2]);
  expect(await get(`/device/${OFFER.script.file}`, 'HEAD')).toEqual({ status: 200, text: '' });
});

it.each([
  '/device/passwd',
  '/device/node-linux-x64-24.gz',
  '/device/',
  '/device/..',
  '/device/%2e%2e%2fetc%2fpasswd',
  '/device/..%2f..%2f..%2fetc%2fpasswd',
  '/device/..%5c..%5cetc%5cpasswd',
  '/device/install-abc.sh%00',
  '/device//etc/passwd',
  '/device/../../etc/passwd',
  '//device/offer.json/../../etc/passwd',
  '/device/offer.json/../passwd',
])('gives nothing else: %s', async (path) => {
  nowMs += 60_000;
  const { status, text } = await get(path);
  expect([404, 426]).toContain(status);
  expect(text).toBe('');
});

it('takes no other method, and leaves other paths to others', async () => {
  expect((await get('/device/offer.json', 'POST')).status).toBe(405);
  expect((await get('/v1/join')).status).toBe(426);
});

it('asks who comes too often to wait, until he has', async () => {
  nowMs += 3_600_000;
  const statuses = await Promise.all(Array.from({ length: 80 }, async () => (await get('/device/offer.json')).status));
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  expect(statuses.filter((status) => status === 200)).toHaveLength(60);
  nowMs += 1_000;
  expect((await get('/device/offer.json')).status).toBe(200);
});

it('says that there is nothing when the offer is gone or damaged', async () => {
  nowMs += 3_600_000;
  await writeFile(join(base, 'offer.json'), '{"release": "../../etc"}');
  expect((await get('/device/offer.json')).status).toBe(404);
  expect((await get(`/device/${OFFER.script.file}`)).status).toBe(404);
});
