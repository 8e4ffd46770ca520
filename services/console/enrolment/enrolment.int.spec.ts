import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { enrollBlock } from '#libs/device-offer';
import { tokenHash } from '#libs/keys';
import { serveQueries } from '#libs/messaging';
import { ANYBODY, notAsked, startTestBus, type TestBus } from '#libs/testing';
import { ActorEntry, BUCKETS, DeviceOffer } from '#proto';
import { startConsole, type TestConsole } from '../console.testing.js';

/* A machine is enrolled over HTTP: the registry decides, and the answer has the lines to paste. */

const OFFER = DeviceOffer.parse({
  release: '0.1.0-abc',
  script: { file: 'install-0123.sh', sha256: 'c'.repeat(64), bytes: 900 },
  archives: {},
});
const EXPIRES = '2026-11-28T12:00:00.000Z';
const folder = mkdtempSync(join(tmpdir(), 'orrery-offer-'));
const asked: object[] = [];
let bus: TestBus;
let console: TestConsole;

beforeAll(async () => {
  bus = await startTestBus();
  const actors = await new Kvm(jetstream(await bus.as('admin'))).open(BUCKETS.ACTORS.bucket);
  const token = (tokenId: string, scopes: readonly string[]) => ({
    tokenId,
    tokenHash: tokenHash(`token-${tokenId}`),
    scopes,
    label: '',
    expiresAt: null,
  });
  const anna = ActorEntry.parse({
    actor: { kind: 'person', id: 'anna' },
    roles: ['viewer', 'operator'],
    namespace: 'anna',
    keys: [],
    tokens: [token('looks', ['viewer']), token('operates', ['operator'])],
    logins: [],
    revision: 1,
  });
  await actors.put('anna', JSON.stringify(anna));
  await serveQueries(
    await bus.as('registry'),
    'registry',
    {
      ...notAsked('registry'),
      enroll: async ({ deviceId = 'device-7', ...said }) => {
        asked.push({ deviceId, ...said });
        return { deviceId, token: 'join-me-once', expiresAt: EXPIRES };
      },
      'token-used': async () => ({ changed: true }),
    },
    { authority: ANYBODY },
  );
  console = await startConsole('the-admin-token', {
    ORRERY_NATS_URL: bus.server.url,
    ORRERY_NATS_SEED_FILE: bus.seedFile('console'),
    ORRERY_AIP_URL: 'wss://orrery.example.org/ws',
    ORRERY_DEVICE_OFFER: folder,
  });
});
afterAll(async () => {
  await console.stop();
  await bus.stop();
  rmSync(folder, { recursive: true });
});

async function say(method: 'GET' | 'POST', path: string, body?: object, who = 'operates') {
  const response = await fetch(`http://127.0.0.1:${console.port}${path}`, {
    method,
    headers: { authorization: `Bearer token-${who}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

describe('POST /v1/enrolments', () => {
  it('without an archive has the command for a machine that has the client, and no lines that bring one', async () => {
    const { status, json } = await say('POST', '/v1/enrolments', { deviceId: 'web-9', set: { roles: ['web'] } });
    expect([status, json]).toEqual([
      200,
      {
        deviceId: 'web-9',
        token: 'join-me-once',
        expiresAt: EXPIRES,
        url: 'wss://orrery.example.org/ws',
        command: expect.stringMatching(/'join-me-once' \| orrery-device join --url wss:\/\/orrery\.example\.org\/ws /u),
        block: null,
        isOpen: false,
      },
    ]);
    expect(asked.at(-1)).toEqual({ deviceId: 'web-9', set: { roles: ['web'] }, credential: 'join' });
  });

  it('with an archive has the lines that are printed at a terminal, for the way that was said', async () => {
    writeFileSync(join(folder, 'offer.json'), JSON.stringify(OFFER));
    const url = 'ws://10.0.0.5:5000/ws';
    const { json } = await say('POST', '/v1/enrolments', { url, dir: '/opt/orrery' });
    expect([json['deviceId'], json['isOpen'], json['block']]).toEqual([
      'device-7',
      true,
      enrollBlock({ url, token: 'join-me-once', offer: OFFER, ca: undefined, dir: '/opt/orrery' }),
    ]);
    expect(await say('GET', '/v1/enrolments/offer', undefined, 'looks')).toEqual({
      status: 200,
      json: { url: 'wss://orrery.example.org/ws', release: OFFER.release },
    });
  });

  it('enrols nothing for who may not, nor with what nobody can use', async () => {
    const before = asked.length;
    expect((await say('POST', '/v1/enrolments', {}, 'looks')).status).toBe(403);
    for (const [body, path] of [
      [{ url: 'http://x' }, 'url'],
      [{ url: 'wss://u:p@x/ws' }, 'url'],
      [{ dir: '/opt/$(id)' }, 'dir'],
      [{ ca: 'not a certificate' }, 'ca'],
      [{ credential: 'token' }, 'credential'],
      [{ deviceId: 'a b' }, 'deviceId'],
    ] as const) {
      const { status, json } = await say('POST', '/v1/enrolments', body);
      expect([status, json['error']]).toEqual([
        400,
        expect.objectContaining({ issues: [expect.objectContaining({ path })] }),
      ]);
    }
    expect(asked).toHaveLength(before);
  });
});
