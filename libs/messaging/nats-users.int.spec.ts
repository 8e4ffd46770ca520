import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { createUser } from '@nats-io/nkeys';
import { errors } from '@nats-io/transport-node';
import type { NatsConnection } from '@nats-io/transport-node';
import { BUCKETS, DURABLES, partitionDurables, partitionOf, subjects } from '#proto';
import { startTestNats } from '#libs/testing';
import type { TestNats } from '#libs/testing';
import { getArtifact, putArtifact } from './artifacts.adapter.js';
import { connectBus } from './bus.client.js';
import { consumeDurable } from './consume-durable.adapter.js';
import { Members } from './members.adapter.js';
import { natsUsers } from './nats-users.js';
import { DONE } from './outcome.js';
import { provision } from './provision.adapter.js';
import { query, serveQueries } from './queries.adapter.js';
import { DeviceTimers, RunTimers } from './timers.adapter.js';

const RUN = 'run-1';
const ATTEMPT = { runId: RUN, taskId: 'task-1', attempt: 1 };
const SERVICES = ['orchestrator', 'registry', 'aip-gateway', 'device-agent', 'logging', 'console'];
const ALL = [...SERVICES, 'cli', 'external', 'auditor'];

let server: TestNats;
let directory: string;
const connections = new Map<string, NatsConnection>();
const refusals = new Map<string, Set<string>>();

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-test-keys-'));
  const users = await Promise.all(
    natsUsers().map(async (spec) => {
      const keys = createUser();
      await writeFile(join(directory, `${spec.name}.seed`), keys.getSeed(), { mode: 0o600 });
      return { ...spec, nkeyPublic: keys.getPublicKey() };
    }),
  );
  server = await startTestNats({ users });
  await provision(await as('admin'));
});
afterAll(async () => {
  for (const nc of connections.values()) await nc.close();
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

/** The connection of a user, made once. */
async function as(user: string): Promise<NatsConnection> {
  const known = connections.get(user);
  if (known !== undefined) return known;
  const seedFile = join(directory, `${user}.seed`);
  const nc = await connectBus({ url: server.url, name: user, inboxPrefix: `_INBOX_${user}`, seedFile });
  connections.set(user, nc);
  const refused = new Set<string>();
  refusals.set(user, refused);
  void collectRefusals(nc, refused);
  return nc;
}

/** Whether the server lets the user publish: a refusal arrives before the answer to the ping behind it. */
async function mayPublish(user: string, subject: string): Promise<boolean> {
  const nc = await as(user);
  nc.publish(subject, '{}');
  await nc.flush();
  await new Promise((resolve) => void setImmediate(resolve)); // the follower takes what was read from the socket
  return refusals.get(user)?.has(subject) !== true;
}

/** Collects what the server refuses a connection to publish. */
async function collectRefusals(nc: NatsConnection, refused: Set<string>): Promise<void> {
  for await (const status of nc.status()) {
    if (status.type !== 'error' || !(status.error instanceof errors.PermissionViolationError)) continue;
    refused.add(status.error.subject);
  }
}

async function maySubscribe(user: string, subject: string): Promise<boolean> {
  const nc = await as(user);
  let refused = false;
  const subscription = nc.subscribe(subject, {
    callback: (error) => {
      refused ||= error instanceof errors.PermissionViolationError;
    },
  });
  await nc.flush();
  subscription.unsubscribe();
  return !refused;
}

const only = async (may: (user: string, subject: string) => Promise<boolean>, subject: string) => {
  const allowed: string[] = [];
  for (const user of ALL) if (await may(user, subject)) allowed.push(user);
  return allowed;
};

const API = '$JS.API';
const attempts = partitionDurables(partitionOf(RUN)).attempts;

describe('who may publish', () => {
  it.each<[string, string[]]>([
    [subjects.requests, ['cli', 'external']],
    [subjects.submit, ['console', 'cli', 'external']],
    [subjects.run(RUN), ['orchestrator']],
    [subjects.attempt(ATTEMPT, 'end'), ['device-agent']],
    [subjects.fleet('web-1'), ['registry']],
    [subjects.runTimer(RUN), ['orchestrator']],
    [subjects.deviceTimer('web-1'), ['registry']],
    [subjects.runDue(RUN), []],
    [subjects.deviceDue('web-1'), []],
    [subjects.feed(RUN, 'TASK_STARTED'), ['logging']],
    [subjects.liveRun(RUN), []],
    [subjects.answer('request-1'), ['orchestrator']],
    [subjects.verb(RUN, 'SUBMIT'), ['orchestrator']],
    [subjects.deviceCommand('web-1'), ['device-agent']],
    [subjects.dlq('registry'), ['registry']],
    ['$KV.AGENT_PROFILES.web-1', ['registry']],
    ['$KV.PRESENCE.web-1', ['aip-gateway']],
    ['$KV.MEMBERS.orchestrator.a', ['orchestrator']],
    [`${API}.STREAM.DELETE.RUNS`, []],
    [`${API}.STREAM.PURGE.RUNS`, []],
    [`${API}.STREAM.UPDATE.RUNS`, []],
    [`${API}.STREAM.CREATE.MINE`, []],
    [`${API}.STREAM.MSG.DELETE.RUNS`, []],
    [`${API}.CONSUMER.DELETE.RUNS.${DURABLES.deviceAgentAttempts.durable}`, []],
    [`${API}.CONSUMER.MSG.NEXT.REQUESTS.${DURABLES.requests.durable}`, ['orchestrator']],
    [`${API}.CONSUMER.MSG.NEXT.ATTEMPTS.${attempts.durable}`, ['orchestrator', 'logging', 'cli', 'auditor']],
    [`$JS.ACK.RUNS.${DURABLES.deviceAgentControl.durable}.1.1.1.1.1`, ['device-agent']],
    [`$JS.ACK._.hash.RUNS.${DURABLES.deviceAgentControl.durable}.1.1.1.1.1`, ['device-agent']],
    ['_INBOX_orchestrator.x', []],
  ])('%s: %j', async (subject, expected) => {
    expect(await only(mayPublish, subject)).toEqual(expected);
  });
});

describe('who may listen', () => {
  it.each<[string, string[]]>([
    [subjects.anyRun, []],
    [subjects.anyAttempt, []],
    [subjects.requests, []],
    [subjects.anyLiveRun, ['console', 'cli', 'external']],
    [subjects.anyAnswer, ['console', 'cli', 'external']],
    [subjects.submit, ['orchestrator']],
    [subjects.anyVerb, ['orchestrator']],
    [subjects.deviceCommand('web-1'), ['aip-gateway']],
    [subjects.anyQueryOf('registry'), ['registry']],
    ['_INBOX_orchestrator.>', ['orchestrator']],
    ['_INBOX.>', []],
    ['>', []],
  ])('%s: %j', async (subject, expected) => {
    expect(await only(maySubscribe, subject)).toEqual(expected);
  });

  it('gives the server no client without a key', async () => {
    await expect(connectBus({ url: server.url, name: 'nobody', inboxPrefix: '_INBOX_nobody' })).rejects.toThrow();
  });
});

describe('what each service does', () => {
  it('orchestrator: consumes its durables, arms timers, is a member', async () => {
    const nc = await as('orchestrator');
    const { promise, resolve } = Promise.withResolvers<void>();
    await jetstream(await as('external')).publish(subjects.requests, '{}');
    const consumption = consumeDurable(
      nc,
      DURABLES.requests,
      () => {
        resolve();
        return Promise.resolve(DONE);
      },
      { service: 'orchestrator' },
    );
    await promise;
    await consumption.stop();
    const timers = new RunTimers(nc);
    expect(await timers.armed(RUN)).toBeUndefined();
    await timers.arm(RUN, Date.now() + 1_000_000);
    const owned = Promise.withResolvers<number>();
    const members = new Members(nc, {
      service: 'orchestrator',
      instance: 'a',
      clock: { now: () => 0 },
      changed: (partitions) => owned.resolve(partitions.size),
    });
    members.start();
    expect(await owned.promise).toBe(32);
    await members.stop();
    expect((await consumed(nc)).num_ack_pending).toBe(0);
  });

  it('registry: keeps profiles, hears of presence, arms timers, answers', async () => {
    const nc = await as('registry');
    await new DeviceTimers(nc).arm('web-1', Date.now() + 1_000_000);
    const presence = await (await new Kvm(nc).open(BUCKETS.PRESENCE.bucket)).watch({ key: 'web-9' });
    const gateway = await new Kvm(await as('aip-gateway')).open(BUCKETS.PRESENCE.bucket);
    await gateway.create('web-9', '{}');
    for await (const entry of presence) {
      expect(entry.key).toBe('web-9');
      break;
    }
    const profiles = await new Kvm(nc).open(BUCKETS.AGENT_PROFILES.bucket);
    await profiles.put('web-1', '{}');
    const other = await new Kvm(await as('device-agent')).open(BUCKETS.AGENT_PROFILES.bucket);
    expect((await other.get('web-1'))?.string()).toBe('{}');
    const served = await serveQueries(nc, 'registry', {
      devices: () => Promise.resolve({ devices: [] }),
      enroll: () => Promise.reject(new Error('not asked')),
      authenticate: () => Promise.resolve({ deviceId: null }),
    });
    expect(await query(await as('cli'), 'registry', 'devices', {})).toEqual({ devices: [] });
    const asked = query(await as('aip-gateway'), 'registry', 'authenticate', { tokenHash: '0'.repeat(64) });
    expect(await asked).toEqual({ deviceId: null });
    await served.stop();
  });

  it('device-agent: stores artifacts that others read', async () => {
    const content = new TextEncoder().encode('output');
    const { sha256 } = await putArtifact(await as('device-agent'), content);
    expect(Buffer.from(await getArtifact(await as('logging'), sha256)).toString()).toBe('output');
  });

  it('external: follows the feed with a durable of its own', async () => {
    const nc = await as('external');
    await jetstream(await as('logging')).publish(subjects.feed(RUN, 'TASK_STARTED'), '{}');
    const jsm = await jetstreamManager(nc);
    await jsm.consumers.add('FEED', { durable_name: 'theirs', ack_policy: 'explicit' });
    const message = await (await jetstream(nc).consumers.get('FEED', 'theirs')).next({ expires: 5_000 });
    expect(message?.subject).toBe(subjects.feed(RUN, 'TASK_STARTED'));
  });
});

async function consumed(nc: NatsConnection) {
  await nc.flush();
  return (await jetstreamManager(nc)).consumers.info(DURABLES.requests.stream, DURABLES.requests.durable);
}
