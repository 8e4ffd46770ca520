import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import { errors, type NatsConnection } from '@nats-io/transport-node';
import {
  allDurables,
  ARTIFACTS_BUCKET,
  BUCKETS,
  DURABLES,
  feedDurable,
  keysOfBucket,
  liveSubjectOf,
  STREAMS,
  subjects,
  type DurableSpec,
} from '#proto';
import { keyOf, OWN_KEY } from '#libs/keys';
import { startTestBus, type TestBus } from '#libs/testing';
import { natsUsers } from './nats-users.js';

/* Every key tries everything that JetStream can be asked, of every stream, bucket and durable. What is not in a table is nobody's. */

const API = '$JS.API';
const ADMIN = 'admin';
const USERS = natsUsers().flatMap(({ name }) => (name === ADMIN ? [] : [name]));
const OBJECTS = `OBJ_${ARTIFACTS_BUCKET}`;
const bucketStreams = Object.values(BUCKETS).map(({ bucket }) => `KV_${bucket}`);
const ALL_STREAMS = [...Object.keys(STREAMS), ...bucketStreams, OBJECTS];

/** Who reads a stream by the message, and so all of it. */
const READERS: Record<string, string[]> = {
  REQUESTS: ['orchestrator', 'logging'],
  RUNS: ['orchestrator', 'aip-gateway', 'device-agent', 'logging', 'console', 'planner', 'cli', 'auditor'],
  ATTEMPTS: ['orchestrator', 'device-agent', 'logging', 'console', 'planner', 'cli', 'auditor'],
  OUTPUT: ['console', 'cli'],
  PLANS: ['orchestrator', 'logging', 'console', 'planner', 'cli', 'auditor'],
  FLEET: ['registry', 'logging', 'cli', 'auditor'],
  ACTORS: ['registry', 'console', 'cli', 'auditor'],
  ATTENTION: ['logging', 'console', 'cli', 'auditor'],
  ACCESS: ['registry'],
  TIMERS: ['orchestrator', 'registry', 'logging'],
  FEED: ['logging', 'console', 'cli'],
  DLQ: ['logging', 'cli'],
  KV_AGENT_PROFILES: ['orchestrator', 'registry', 'aip-gateway', 'device-agent', 'planner', 'cli'],
  KV_PRESENCE: ['registry', 'aip-gateway'],
  KV_ACTORS: ['orchestrator', 'registry', 'device-agent', 'logging', 'console', 'planner'],
  KV_REVOKED_GRANTS: ['orchestrator', 'registry', 'device-agent', 'logging', 'console', 'planner'],
  KV_VERB_ANSWERS: ['orchestrator'],
  KV_SESSIONS: ['console'],
  KV_MEMBERS: ['orchestrator', 'planner'],
  [OBJECTS]: ['orchestrator', 'aip-gateway', 'device-agent', 'logging', 'console', 'planner', 'cli'],
};

/** Who is told what was stored. */
const LISTENERS: Record<string, string[]> = {
  RUNS: ['aip-gateway', 'logging', 'console', 'cli', 'auditor'],
  ATTEMPTS: ['logging', 'console', 'cli', 'auditor'],
  OUTPUT: ['console', 'cli'],
  PLANS: ['logging', 'console', 'cli', 'auditor'],
  FLEET: ['registry', 'logging', 'cli', 'auditor'],
  ACTORS: ['registry', 'console', 'cli', 'auditor'],
  ATTENTION: ['logging', 'console', 'cli', 'auditor'],
  FEED: ['console', 'cli'],
  DLQ: ['cli'],
  KV_AGENT_PROFILES: ['orchestrator', 'registry', 'aip-gateway', 'device-agent', 'planner', 'cli'],
  KV_PRESENCE: ['registry', 'aip-gateway'],
  KV_ACTORS: ['orchestrator', 'registry', 'device-agent', 'logging', 'console', 'planner'],
  KV_REVOKED_GRANTS: ['orchestrator', 'registry', 'device-agent', 'logging', 'console', 'planner'],
};

/** Who takes the messages of a durable, and acknowledges them. */
const TAKERS: Record<string, string> = {
  [DURABLES.deviceAgentAttempts.durable]: 'device-agent',
  [DURABLES.deviceAgentControl.durable]: 'device-agent',
  [DURABLES.deviceAgentEnds.durable]: 'device-agent',
  [DURABLES.plannerRounds.durable]: 'planner',
  [DURABLES.registryDue.durable]: 'registry',
};
const takerOf = ({ durable }: DurableSpec): string => TAKERS[durable] ?? 'orchestrator';

/** Who may write a key of a bucket. */
const KEEPERS: Record<string, string[]> = {
  '$KV.AGENT_PROFILES.web-1': ['registry'],
  '$KV.PRESENCE.web-1': ['aip-gateway'],
  '$KV.REVOKED_GRANTS.1': ['registry'],
  '$KV.ACTORS.anna': ['registry'],
  '$KV.VERB_ANSWERS.1': ['orchestrator'],
  '$KV.SESSIONS.x': ['console'],
  'orrery.access.console.anna': ['console'],
  'orrery.access.console._': ['console'],
  '$KV.MEMBERS.orchestrator.a': ['orchestrator'],
  '$KV.MEMBERS.device-agent.a': ['device-agent'],
  '$KV.MEMBERS.planner.a': ['planner'],
  [`$O.${ARTIFACTS_BUCKET}.C.x`]: ['aip-gateway', 'device-agent', 'planner'],
  [`$O.${ARTIFACTS_BUCKET}.M.x`]: ['aip-gateway', 'device-agent', 'planner'],
};

let bus: TestBus;
beforeAll(async () => {
  bus = await startTestBus();
});
afterAll(() => bus.stop());

/** Which users the server lets publish on these subjects; those that nobody may publish on are left out. */
async function publishers(probes: readonly string[]): Promise<Record<string, string[]>> {
  const allowed: Record<string, string[]> = {};
  for (const user of USERS) {
    const refused = await refusalsOf(user, probes);
    for (const subject of probes) if (!refused.has(subject)) (allowed[subject] ??= []).push(user);
  }
  return allowed;
}

/** The same for listening. */
async function listeners(probes: readonly string[]): Promise<Record<string, string[]>> {
  const allowed: Record<string, string[]> = {};
  for (const user of USERS) {
    const refused = new Set<string>();
    const nc = await bus.as(user);
    const heard = probes.map((subject) =>
      nc.subscribe(subject, { callback: (error) => void (error !== null && refused.add(subject)) }),
    );
    await nc.flush();
    for (const one of heard) one.unsubscribe();
    for (const subject of probes) if (!refused.has(subject)) (allowed[subject] ??= []).push(user);
  }
  return allowed;
}

/** What the server refuses to a user from its first publish on: its word comes before its answer to the ping behind that. */
const refusals = new Map<string, Set<string>>();

async function refusalsOf(user: string, probes: readonly string[]): Promise<ReadonlySet<string>> {
  const nc = await bus.as(user);
  const known = refusals.get(user);
  const refused = known ?? new Set<string>();
  if (known === undefined) void collectRefusals(nc, refused);
  refusals.set(user, refused);
  for (const subject of probes) nc.publish(subject, '{}');
  await nc.flush();
  await new Promise((resolve) => void setImmediate(resolve)); // the follower takes what was read from the socket
  return refused;
}

async function collectRefusals(nc: NatsConnection, refused: Set<string>): Promise<void> {
  for await (const status of nc.status()) {
    if (status.type !== 'error' || !(status.error instanceof errors.PermissionViolationError)) continue;
    refused.add(status.error.subject);
  }
}

const expected = (entries: readonly (readonly [string, readonly string[]])[]): Record<string, string[]> =>
  Object.fromEntries(
    entries.flatMap(([subject, users]) => {
      const sorted = USERS.filter((user) => users.includes(user));
      return sorted.length === 0 ? [] : [[subject, sorted]];
    }),
  );

describe('every key, every stream', () => {
  it('is read by those in the table, in each of the ways there are', async () => {
    const ways = (stream: string): string[] => [
      `${API}.STREAM.MSG.GET.${stream}`,
      `${API}.DIRECT.GET.${stream}`,
      `${API}.DIRECT.GET.${stream}.orrery.run.run-1`,
    ];
    const probes = ALL_STREAMS.map((stream) => [stream, ways(stream)] as const);
    const table = probes.flatMap(([stream, all]) => all.map((subject) => [subject, READERS[stream] ?? []] as const));
    expect(await publishers(probes.flatMap(([, all]) => all))).toEqual(expected(table));
  });

  it('tells those in the table what was stored, and nobody else may speak in its name', async () => {
    const told = [
      ...Object.values(STREAMS).map(({ name, subjects: [subject] }) => [name, liveSubjectOf(subject)] as const),
      ...Object.values(BUCKETS).map(({ bucket }) => [`KV_${bucket}`, liveSubjectOf(keysOfBucket(bucket))] as const),
    ];
    const table = told.map(([stream, subject]) => [subject, LISTENERS[stream] ?? []] as const);
    expect(await listeners(told.map(([, subject]) => subject))).toEqual(expected(table));
    const spoken = told.map(([, subject]) => subject.replace('*', 'x').replace('>', 'x.y'));
    expect(await publishers(spoken)).toEqual({});
  });

  it('is made, changed, emptied, copied and deleted by nobody', async () => {
    const verbs = 'CREATE UPDATE DELETE PURGE MSG.DELETE SNAPSHOT RESTORE LEADER.STEPDOWN PEER.REMOVE'.split(' ');
    const probes = [...ALL_STREAMS, 'MINE'].flatMap((stream) => verbs.map((verb) => `${API}.STREAM.${verb}.${stream}`));
    const whole = [
      `${API}.STREAM.LIST`,
      `${API}.STREAM.NAMES`,
      `${API}.ACCOUNT.PURGE.ORRERY`,
      `${API}.META.LEADER.STEPDOWN`,
    ];
    expect(await publishers([...probes, ...whole])).toEqual({});
  });

  it('is written where its one writer writes: keys and objects, too', async () => {
    const strange = Object.values(BUCKETS).map(({ bucket }) => keysOfBucket(bucket).replace('>', 'nobody.s'));
    expect(await publishers([...Object.keys(KEEPERS), ...strange, '$KV.FOREIGN.a'])).toEqual(
      expected(Object.entries(KEEPERS)),
    );
  });

  it('takes the word about what was read from the key that it names, and from no other one', async () => {
    const keys = await Promise.all(USERS.map(async (user) => [user, await keyOf(bus.seedFile(user))] as const));
    const table = keys.map(
      ([user, key]) => [subjects.accessByKey(key), user === 'cli' || user === 'auditor' ? [user] : []] as const,
    );
    const strange = [subjects.accessByKey(OWN_KEY), 'orrery.access.registry.anna', 'orrery.access.console.a.b'];
    expect(await publishers([...table.map(([subject]) => subject), ...strange])).toEqual(expected(table));
  });

  it('lets nobody listen to its own subjects, to the server or to the answers of others', async () => {
    const stored = Object.values(STREAMS).flatMap((spec): readonly string[] => spec.subjects);
    const keys = Object.values(BUCKETS).map(({ bucket }) => keysOfBucket(bucket));
    const servers = ['>', '$SYS.>', `${API}.>`, '$JS.ACK.>', '$JS.EVENT.>', '_INBOX.>', `$O.${ARTIFACTS_BUCKET}.>`];
    const inboxes = [...USERS, ADMIN].map((user) => `_INBOX_${user}.>`);
    const own = USERS.map((user) => [`_INBOX_${user}.>`, [user]] as const);
    expect(await listeners([...stored, ...keys, ...servers, ...inboxes])).toEqual(expected(own));
    const others = [...USERS, ADMIN].map((user) => `_INBOX_${user}.x`);
    expect(await publishers([...others, '$SYS.REQ.SERVER.PING', '$SYS.REQ.USER.INFO', '$JS.EVENT.ADVISORY.x'])).toEqual(
      {},
    );
  });
});

describe('every key, every consumer', () => {
  /** Foreign names, names of durables, filters in the subject, the form without a name, and the old form. */
  const made = (stream: string, durable: string): string[] => [
    `${API}.CONSUMER.CREATE.${stream}`,
    `${API}.CONSUMER.CREATE.${stream}.${durable}`,
    `${API}.CONSUMER.CREATE.${stream}.${durable}.orrery.run.run-1`,
    `${API}.CONSUMER.CREATE.${stream}.${durable}.>`.replace('>', 'x.y'),
    `${API}.CONSUMER.DURABLE.CREATE.${stream}.${durable}`,
    ...'DELETE PAUSE RESET UNPIN LEADER.STEPDOWN'
      .split(' ')
      .map((verb) => `${API}.CONSUMER.${verb}.${stream}.${durable}`),
    `$JS.FC.${stream}.${durable}.x.y`,
  ];

  it('is made, changed, paused and deleted by nobody, under no name; but those of FEED, filtered, by the registry', async () => {
    const feed = feedDurable('billing');
    const probes = [
      ...[...allDurables(), feed].flatMap(({ stream, durable }) => made(stream, durable)),
      ...ALL_STREAMS.flatMap((stream) => made(stream, 'mine')),
      ...made('RUNS', feed.durable),
    ];
    const filters = [...feed.filters, subjects.anyFeed, subjects.anyRun, '>'];
    const filtered = [...ALL_STREAMS, '*'].flatMap((stream) =>
      filters.map((filter) => `${API}.CONSUMER.CREATE.${stream}.${feed.durable}.${filter}`),
    );
    const kept = ['mine', feed.durable].map((durable) => `${API}.CONSUMER.DELETE.FEED.${durable}`);
    const ours = feed.filters
      .concat(subjects.anyFeed)
      .map((filter) => `${API}.CONSUMER.CREATE.FEED.${feed.durable}.${filter}`);
    const table = [...kept, ...ours].map((subject) => [subject, ['registry']] as const);
    expect(await publishers([...new Set([...probes, ...filtered])])).toEqual(expected(table));
  });

  it('is taken from and acknowledged by the one service whose it is', async () => {
    const uses = ({ stream, durable }: { stream: string; durable: string }): string[] => [
      `${API}.CONSUMER.INFO.${stream}.${durable}`,
      `${API}.CONSUMER.MSG.NEXT.${stream}.${durable}`,
      `$JS.ACK.${stream}.${durable}.1.1.1.1.1`,
      `$JS.ACK._.hash.${stream}.${durable}.1.1.1.1.1`,
    ];
    const strange = ALL_STREAMS.map((stream) => ({ stream, durable: 'mine' }));
    const outside = [feedDurable('external'), feedDurable('billing')];
    const table = [
      ...allDurables().flatMap((spec) => uses(spec).map((subject) => [subject, [takerOf(spec)]] as const)),
      // The registry looks at what it has made; who takes from it is outside, where the same subjects are others.
      ...[...outside, { stream: 'FEED', durable: 'mine' }].map(
        ({ durable }) => [`${API}.CONSUMER.INFO.FEED.${durable}`, ['registry']] as const,
      ),
      [`$JS.ACK.FEED.external.1.1.1.1.1`, ['external']] as const,
    ];
    const probes = [...allDurables(), ...outside, ...strange].flatMap(uses);
    expect(await publishers(probes)).toEqual(expected(table));
  });

  it('is listed by those who take from the stream and by who tells how far they are, and its names by nobody', async () => {
    const takers = Map.groupBy(allDurables(), ({ stream }) => stream);
    const table = [
      ...[...takers].map(
        ([stream, all]) => [`${API}.CONSUMER.LIST.${stream}`, [...all.map(takerOf), 'logging']] as const,
      ),
      [`${API}.CONSUMER.LIST.FEED`, ['registry', 'logging']] as const,
    ];
    const probes = ALL_STREAMS.flatMap((stream) =>
      ['LIST', 'NAMES'].map((verb) => `${API}.CONSUMER.${verb}.${stream}`),
    );
    expect(await publishers(probes)).toEqual(expected(table));
  });

  it('of the device agent stays as it was whatever the auditor sends', async () => {
    const { stream, durable } = DURABLES.deviceAgentAttempts;
    const configOf = async () =>
      (await (await jetstreamManager(await bus.as(ADMIN))).consumers.info(stream, durable)).config;
    const before = await configOf();
    const auditor = await jetstreamManager(await bus.as('auditor'), { checkAPI: false });
    const filter = { filter_subject: subjects.run('other') };
    for (const change of [{ headers_only: true }, { ack_wait: 1 }, filter, { max_ack_pending: 1 }]) {
      await expect(auditor.consumers.add(stream, { ...before, ...change })).rejects.toThrow(/permission/iu);
    }
    await expect(auditor.consumers.delete(stream, durable)).rejects.toThrow(/permission/iu);
    expect(await configOf()).toEqual(before);
  });

  it('of the planner pushes nothing to a device', async () => {
    const heard: string[] = [];
    const gateway = await bus.as('aip-gateway');
    const listening = gateway.subscribe(subjects.deviceCommand('web-1'), {
      callback: (_, { subject }) => void heard.push(subject),
    });
    await gateway.flush();
    const planner = await jetstreamManager(await bus.as('planner'), { checkAPI: false });
    const pushing = { deliver_subject: subjects.deviceCommand('web-1'), ack_policy: 'none' } as const;
    await expect(planner.consumers.add('RUNS', { name: 'mine', ...pushing })).rejects.toThrow(/permission/iu);
    await gateway.flush();
    listening.unsubscribe();
    expect(heard).toEqual([]);
  });
});
