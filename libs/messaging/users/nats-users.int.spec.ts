import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { errors } from '@nats-io/transport-node';
import type { NatsConnection } from '@nats-io/transport-node';
import { BUCKETS, DURABLES, liveSubjectOf, subjects } from '#proto';
import { proveActor } from '#libs/keys';
import { ANYBODY, asksAsAnybody, notAsked, startTestBus } from '#libs/testing';
import type { TestBus } from '#libs/testing';
import { Actors } from './actors.adapter.js';
import { getArtifact, putArtifact } from '../artifacts/artifacts.adapter.js';
import { followBucket, type BucketEntry } from '../buckets/index.js';
import { connectBus } from '../connection/bus.client.js';
import { consumeDurable } from '../durables/consume.adapter.js';
import { Members } from '../members/members.adapter.js';
import { natsUsers } from './nats-users.js';
import { DONE } from '../durables/outcome.js';
import { query, serveQueries } from '../verbs/queries.adapter.js';
import { DeviceTimers, RunTimers } from '../streams/timers.adapter.js';

const RUN = 'run-1';
const ATTEMPT = { runId: RUN, taskId: 'task-1', attempt: 1 };
const SERVICES = ['orchestrator', 'registry', 'aip-gateway', 'device-agent', 'logging', 'console', 'planner'];
const ALL = [...SERVICES, 'cli', 'external', 'auditor'];

let bus: TestBus;
const watched = new Map<string, Promise<NatsConnection>>();
const refusals = new Map<string, Set<string>>();

beforeAll(async () => {
  bus = await startTestBus();
});
afterAll(() => bus.stop());

/** The connection of a user, with all that it is refused from now on. */
function as(user: string): Promise<NatsConnection> {
  const known = watched.get(user);
  if (known !== undefined) return known;
  const connection = bus.as(user).then((nc) => {
    const refused = new Set<string>();
    refusals.set(user, refused);
    void collectRefusals(nc, refused);
    return nc;
  });
  watched.set(user, connection);
  return connection;
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

describe('who may publish', () => {
  it.each<[string, string[]]>([
    [subjects.requests, ['external']],
    [subjects.requestsOf('external'), ['external']],
    [subjects.requestsOf('cli'), []],
    [subjects.submit, ['aip-gateway', 'console', 'cli', 'external']],
    [subjects.run(RUN), ['orchestrator']],
    [subjects.attempt(ATTEMPT, 'end'), ['device-agent']],
    [subjects.plan(RUN), ['planner']],
    [subjects.fleet('web-1'), ['registry']],
    [subjects.actor('anna'), ['registry']],
    [subjects.runTimer(RUN), ['orchestrator']],
    [subjects.deviceTimer('web-1'), ['registry']],
    [subjects.runDue(RUN), []],
    [subjects.deviceDue('web-1'), []],
    [subjects.feed(RUN, 'TASK_STARTED', 'external'), ['logging']],
    [subjects.liveRun(RUN), []],
    [subjects.answer('request-1'), ['orchestrator']],
    [subjects.answerTo('external', 'request-1'), ['orchestrator']],
    [subjects.verb(RUN, 'SUBMIT'), ['orchestrator']],
    [subjects.verb(RUN, 'CANCEL'), ['orchestrator', 'aip-gateway', 'console', 'cli']],
    [subjects.verb(RUN, 'PAUSE'), ['orchestrator', 'console', 'cli']],
    [subjects.verb(RUN, 'FORK'), ['orchestrator', 'console', 'cli']],
    [subjects.verb(RUN, 'ANNOTATE'), ['orchestrator', 'console', 'cli']],
    [subjects.verb(RUN, 'DISCARD'), ['orchestrator', 'console', 'cli']],
    [subjects.verb(RUN, 'PROPOSE'), ['orchestrator', 'console', 'planner', 'cli']],
    [subjects.verb(RUN, 'SAY'), ['orchestrator', 'console', 'planner', 'cli']],
    [subjects.verb(RUN, 'BOARD_SET'), ['orchestrator', 'device-agent', 'console', 'planner', 'cli']],
    [subjects.verb(RUN, 'BOARD_DELETE'), ['orchestrator', 'device-agent', 'console', 'planner', 'cli']],
    [subjects.query('registry', 'hold'), ['console', 'cli']],
    [subjects.query('registry', 'enroll'), ['console', 'cli']],
    [subjects.query('registry', 'enroll-client'), ['console', 'cli']],
    [subjects.query('registry', 'revoke'), ['console', 'cli']],
    [subjects.query('registry', 'revoke-grants'), ['console', 'cli']],
    [subjects.query('registry', 'revoked-grants'), ['console', 'cli']],
    [subjects.query('registry', 'devices'), ['console', 'cli']],
    [subjects.query('registry', 'people-add'), ['console', 'cli']],
    [subjects.query('registry', 'token-used'), ['console']],
    [subjects.query('logging', 'run'), ['console', 'cli']],
    [subjects.query('logging', 'runs'), ['console', 'cli', 'auditor']],
    [subjects.query('orchestrator', 'dlq-retry'), ['console', 'cli']],
    [subjects.query('registry', 'identify'), ['aip-gateway']],
    [subjects.query('registry', 'join'), ['aip-gateway']],
    [subjects.query('registry', 'renew'), ['aip-gateway']],
    [subjects.query('registry', 'revocations'), ['aip-gateway']],
    [subjects.query('device-agent', 'deliver'), ['aip-gateway']],
    [subjects.query('device-agent', 'explain'), ['console', 'cli']],
    [subjects.query('planner', 'match'), ['console', 'cli']],
    [subjects.query('planner', 'learn'), ['console', 'cli']],
    [subjects.output('run-1.task-1.1.1.1'), ['aip-gateway', 'device-agent']],
    [subjects.deviceCommand('web-1'), ['device-agent']],
    [subjects.deviceSession('web-1', '01K'), ['device-agent']],
    [subjects.dlq('registry'), ['registry']],
  ])('%s: %j', async (subject, expected) => {
    expect(await only(mayPublish, subject)).toEqual(expected);
  });
});

describe('who may listen', () => {
  it.each<[string, string[]]>([
    [subjects.anyRun, []],
    [subjects.anyAttempt, []],
    [subjects.anyPlan, []],
    [subjects.requests, []],
    [subjects.anyLiveRun, ['aip-gateway', 'logging', 'console', 'cli', 'auditor']],
    [subjects.anyOutput, []],
    [liveSubjectOf(subjects.anyOutput), ['console', 'cli']],
    [subjects.anyQueryOf('aip-gateway'), ['aip-gateway']],
    [subjects.anyAnswer, ['external']],
    [subjects.answersTo('external'), ['external']],
    [subjects.anyAnswerTo, []],
    [subjects.submit, ['orchestrator']],
    [subjects.anyVerb, ['orchestrator']],
    [subjects.deviceCommand('web-1'), ['aip-gateway']],
    [subjects.deviceSession('web-1', '01K'), ['aip-gateway']],
    [subjects.anyQueryOf('registry'), ['registry']],
    [subjects.anyQueryOf('planner'), ['planner']],
  ])('%s: %j', async (subject, expected) => {
    expect(await only(maySubscribe, subject)).toEqual(expected);
  });

  it('gives the server no client without a key', async () => {
    await expect(connectBus({ url: bus.server.url, name: 'nobody', inboxPrefix: '_INBOX_nobody' })).rejects.toThrow();
  });
});

describe('everybody', () => {
  it('is in this matrix', () => {
    expect(natsUsers().map(({ name }) => name)).toEqual([...ALL, 'admin']);
  });
});

describe('whose key stands for whom', () => {
  const body = { id: 'verb-1' };
  const subject = subjects.verb(RUN, 'CANCEL');
  const at = '2026-11-20T15:40:40.489Z';

  it.each(['orchestrator', 'registry', 'planner'])('is known to the %s', async (service) => {
    const actors = await Actors.open(await as(service));
    const whoIs = async (user: string): Promise<unknown> => {
      const proof = proveActor(await bus.seedOf(user), { subject, at, body });
      const answer = actors.actorOf(proof, { subject, body, now: Date.parse(at) });
      return answer.ok ? `${answer.actor.kind} ${answer.actor.id}` : answer.refusal.code;
    };
    const found = await Promise.all(natsUsers().map(async ({ name }) => [name, await whoIs(name)] as const));
    await actors.end();
    expect(Object.fromEntries(found)).toEqual({
      orchestrator: 'UNAUTHORIZED',
      registry: 'UNAUTHORIZED',
      'aip-gateway': 'system aip-gateway',
      'device-agent': 'system device-agent',
      logging: 'UNAUTHORIZED',
      console: 'system console',
      planner: 'system planner',
      cli: 'person cli',
      external: 'external external',
      auditor: 'person auditor',
      admin: 'system admin',
    });
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
    members.begin();
    expect(await owned.promise).toBe(32);
    await members.end();
    expect((await consumed(nc)).num_ack_pending).toBe(0);
  });

  it('registry: keeps profiles, hears of presence, arms timers, answers', async () => {
    const nc = await as('registry');
    await new DeviceTimers(nc).arm('web-1', Date.now() + 1_000_000);
    const { promise: present, resolve } = Promise.withResolvers<string>();
    const stop = new AbortController();
    const { bucket } = BUCKETS.PRESENCE;
    const look = () => ({ take: ({ key }: BucketEntry) => resolve(key) });
    const { loaded, over } = followBucket(nc, { bucket, look, report: () => undefined, signal: stop.signal });
    await loaded;
    await (await new Kvm(await as('aip-gateway')).open(bucket)).create('web-9', '{}');
    expect(await present).toBe('web-9');
    stop.abort();
    await over;
    const profiles = await new Kvm(nc).open(BUCKETS.AGENT_PROFILES.bucket);
    await profiles.put('web-1', '{}');
    const other = await new Kvm(await as('device-agent')).open(BUCKETS.AGENT_PROFILES.bucket);
    expect((await other.get('web-1'))?.string()).toBe('{}');
    const served = await serveQueries(
      nc,
      'registry',
      {
        ...notAsked('registry'),
        devices: () => Promise.resolve({ devices: [] }),
        identify: () => Promise.resolve({ identity: null }),
        revocations: ({ after }) => Promise.resolve({ sequence: after, revoked: [] }),
      },
      { authority: ANYBODY },
    );
    asksAsAnybody(await as('cli'));
    expect(await query(await as('cli'), 'registry', 'devices', {})).toEqual({ devices: [] });
    const asked = query(await as('aip-gateway'), 'registry', 'identify', { kind: 'token', tokenHash: '0'.repeat(64) });
    expect(await asked).toEqual({ identity: null });
    await served.stop();
  });

  it('device-agent: stores artifacts that others read', async () => {
    const content = new TextEncoder().encode('output');
    const { sha256 } = await putArtifact(await as('device-agent'), content);
    expect(Buffer.from(await getArtifact(await as('logging'), sha256)).toString()).toBe('output');
  });

  it('aip-gateway: stores what devices send, and reads what they are to get', async () => {
    const content = new TextEncoder().encode('a file of a device');
    const { sha256 } = await putArtifact(await as('aip-gateway'), content);
    expect(Buffer.from(await getArtifact(await as('device-agent'), sha256)).toString()).toBe('a file of a device');
    const { sha256: given } = await putArtifact(await as('device-agent'), new TextEncoder().encode('for a device'));
    expect(Buffer.from(await getArtifact(await as('aip-gateway'), given)).toString()).toBe('for a device');
  });

  it('planner: takes its rounds from the log of runs, stores what it thought, follows runs, and proposes to whoever serves them', async () => {
    const nc = await as('planner');
    const { promise: taken, resolve } = Promise.withResolvers<string>();
    await jetstream(await as('orchestrator')).publish(subjects.run(RUN), '{}');
    const rounds = consumeDurable(
      nc,
      DURABLES.plannerRounds,
      ({ subject }) => {
        resolve(subject);
        return Promise.resolve(DONE);
      },
      { service: 'planner' },
    );
    expect(await taken).toBe(subjects.run(RUN));
    await rounds.stop();
    const { sha256 } = await putArtifact(nc, new TextEncoder().encode('a prompt'));
    expect(Buffer.from(await getArtifact(await as('cli'), sha256)).toString()).toBe('a prompt');
    const jsm = await jetstreamManager(nc);
    expect((await jsm.streams.info('RUNS')).config.name).toBe('RUNS');
    const profiles = await new Kvm(nc).open(BUCKETS.AGENT_PROFILES.bucket);
    expect(await profiles.get('nobody')).toBeNull();
    const subject = subjects.verb(RUN, 'PROPOSE');
    const serving = (await as('orchestrator')).subscribe(subjects.anyVerb, {
      callback: (_, message) => void message.respond(message.subject),
    });
    await (await as('orchestrator')).flush();
    expect((await nc.request(subject, '{}', { timeout: 20_000 })).string()).toBe(subject);
    serving.unsubscribe();
  });
});

async function consumed(nc: NatsConnection) {
  await nc.flush();
  return (await jetstreamManager(nc)).consumers.info(DURABLES.requests.stream, DURABLES.requests.durable);
}
