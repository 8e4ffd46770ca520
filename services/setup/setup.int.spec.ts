import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { busUsers } from '#libs/keys';
import { connectBus, natsUsers, serveQueries, type QueryRequest, type Served } from '#libs/messaging';
import { ANYBODY, notAsked, startTestNats, type TestNats } from '#libs/testing';
import type { AgentProfile } from '#proto';
import { makeKeys } from './keys.runner.js';
import { secretsAt, type Secrets } from './secrets.js';
import { runSetup } from './setup.runner.js';

const AT = '2026-11-20T15:40:40.489Z';

let server: TestNats;
let secrets: Secrets;
let said: string[];

beforeAll(async () => {
  secrets = secretsAt(await mkdtemp(join(tmpdir(), 'orrery-setup-')));
  await makeKeys(secrets, () => undefined);
  server = await startTestNats({ users: await busUsers(natsUsers(), secrets) });
});
afterAll(async () => {
  await server.stop();
  await rm(secrets.root, { recursive: true, force: true });
});

async function streams(): Promise<string[]> {
  said = [];
  const env = { ORRERY_SECRETS_DIR: secrets.root, ORRERY_NATS_URL: server.url };
  expect(await runSetup(['streams'], { env, say: (line) => void said.push(line), input: async () => '' })).toBe(0);
  return said;
}

describe('the step "streams"', () => {
  it('has nothing to do the second time, and says nothing of people: that is for the registry', async () => {
    expect(await streams()).toEqual([expect.stringMatching(/^streams: \d+ made, 0 changed$/u)]);
    expect(await streams()).toEqual(['streams: as they have to be']);
  });
});

describe('the steps for devices', () => {
  const profiles = new Map<string, Partial<AgentProfile>>();
  const enrolled: QueryRequest<'registry', 'enroll'>[] = [];
  let nc: NatsConnection;
  let served: Served;

  beforeAll(async () => {
    const user = 'registry';
    nc = await connectBus({
      url: server.url,
      name: user,
      inboxPrefix: `_INBOX_${user}`,
      seedFile: secrets.seedFile(user),
    });
    served = await serveQueries(
      nc,
      'registry',
      {
        ...notAsked('registry'),
        devices: async () => ({ devices: [...profiles].map(([id, known]) => ({ ...profile(id), ...known })) }),
        enroll: async (request) => {
          enrolled.push(request);
          return { deviceId: request.deviceId ?? '', token: `join-${String(enrolled.length).padStart(22, 'A')}` };
        },
      },
      { authority: ANYBODY },
    );
  });
  afterEach(() => {
    profiles.clear();
    enrolled.length = 0;
  });
  afterAll(async () => {
    await served.stop();
    await nc.close();
  });

  async function step(...words: string[]): Promise<string[]> {
    const lines: string[] = [];
    const devices = 'web-1:web db-1:db';
    const env = {
      ORRERY_SECRETS_DIR: secrets.root,
      ORRERY_NATS_URL: server.url,
      ORRERY_SETUP_DEVICES: devices,
    };
    expect(await runSetup(words, { env, say: (line) => void lines.push(line), input: async () => '' })).toBe(0);
    return lines;
  }
  const tokenOf = (id: string): Promise<string> => readFile(join(secrets.directory('devices'), id, 'token'), 'utf8');

  it('give a join token to whoever has no key, with its tags when it is new', async () => {
    profiles.set('db-1', { credential: null, tags: ['other'] });
    expect(await step('devices')).toEqual([
      'device web-1: admitted with tags web',
      'device db-1: admitted with tags other',
    ]);
    expect(enrolled).toEqual([
      { deviceId: 'web-1', admin: { tags: ['web'], capabilities: [] }, credential: 'join' },
      { deviceId: 'db-1', credential: 'join' },
    ]);
    expect(await tokenOf('web-1')).toBe(`join-${'1'.padStart(22, 'A')}\n`);
  });

  it('leave a device that has joined, and one that was revoked', async () => {
    profiles.set('web-1', { credential: 'key' });
    profiles.set('db-1', {
      credential: null,
      revoked: { by: { kind: 'person', id: 'anna' }, reason: '', revokedAt: AT },
    });
    expect(await step('devices')).toEqual([
      'device web-1: known',
      'device db-1: revoked; the step "device-token db-1" lets it in again',
    ]);
    expect(enrolled).toEqual([]);
  });

  it('let a device in that was revoked, and has been enrolled since', async () => {
    const revoked = { by: { kind: 'person' as const, id: 'anna' }, reason: '', revokedAt: AT };
    profiles.set('web-1', { credential: null, revoked, enrolledAt: '2026-11-20T15:40:40.490Z' });
    profiles.set('db-1', { credential: 'key' });
    await step('devices');
    expect(enrolled).toEqual([{ deviceId: 'web-1', credential: 'join' }]);
  });

  it('take a device with a static token over to a key of its own', async () => {
    profiles.set('web-1', { credential: 'token' });
    profiles.set('db-1', { credential: 'key' });
    await step('devices');
    expect(enrolled).toEqual([{ deviceId: 'web-1', credential: 'join' }]);
  });

  it('give another token to a device that lost its key', async () => {
    profiles.set('web-1', { credential: 'key' });
    expect(await step('device-token', 'web-1')).toEqual([
      'device web-1: has a new join token, good for 15 minutes; restart its container',
    ]);
    expect(await tokenOf('web-1')).toBe(`join-${'1'.padStart(22, 'A')}\n`);
    await expect(step('device-token', 'web-9')).rejects.toThrow('There is no device web-9; there are web-1.');
  });
});

const profile = (deviceId: string): AgentProfile => ({
  deviceId,
  status: 'offline',
  agent: 'LinuxAgent',
  os: 'linux',
  arch: 'x64',
  hostname: deviceId,
  capabilities: [],
  tags: [],
  tools: [],
  resources: { cpuCount: 1, memoryMb: 1 },
  tasksMax: 1,
  held: null,
  session: null,
  revision: 1,
  enrolledAt: AT,
  changedAt: AT,
});
