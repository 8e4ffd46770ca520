import {
  ARTIFACTS_BUCKET,
  BUCKETS,
  DURABLES,
  PARTITIONS,
  partitionDurables,
  QUERIES,
  subjects,
  RUN_VERBS,
  VERB_ROWS,
} from '#proto';
import type { Actor, DurableSpec, StreamName, VerbSender } from '#proto';

/** One client identity of the bus and all it may do; what is not listed is refused. Devices have none: they speak AIP only. */
export interface NatsUserSpec {
  readonly name: string;
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
  /** May answer the requests it receives. */
  readonly allowResponses: boolean;
  /** Whom its key stands for in a signed command. A user without one commands nobody. */
  readonly actor?: Actor;
}

const API = '$JS.API';
const ACCOUNT_INFO = `${API}.INFO`;
/** Discovery of micro services. */
const SERVICES = '$SRV.>';
const EVERYTHING = '>';
/** The signed verbs of a user. SUBMIT is not signed: it names its actor itself, so only the orchestrator's replicas send it to each other. */
const verbsOf = (sender: VerbSender): string[] =>
  RUN_VERBS.filter((verb) => VERB_ROWS[verb].senders.includes(sender)).map((verb) => subjects.anyVerbOf(verb));

/** What only gateways ask: who a client is, and what a device has brought. Whoever may ask that can speak for any device. */
const GATEWAY_QUERIES = [
  ...(['identify', 'join', 'renew', 'revocations'] as const).map((name) => subjects.query('registry', name)),
  subjects.query('device-agent', 'deliver'),
];
/** What people ask, and change. */
const PEOPLES_QUERIES = Object.entries(QUERIES)
  .flatMap(([service, queries]) => Object.keys(queries).map((name) => subjects.query(service, name)))
  .filter((subject) => !GATEWAY_QUERIES.includes(subject));

/**
 * Every user of the bus. Only the owner of a stream publishes to its subjects, and no service deletes or changes a stream.
 * A reader may make consumers on the streams it reads; the server cannot tell whose they are.
 */
export function natsUsers(): NatsUserSpec[] {
  return [
    orchestrator(),
    registry(),
    aipGateway(),
    deviceAgent(),
    logging(),
    consoleUser(),
    planner(),
    cli(),
    external(),
    auditor(),
    {
      ...user('admin', { publish: [EVERYTHING], subscribe: [EVERYTHING], allowResponses: true }),
      actor: { kind: 'person', id: 'admin' },
    },
  ];
}

/** The actors behind the public keys of these users: what ACTORS has to hold. */
export function actorsOf(
  users: readonly { readonly name: string; readonly nkeyPublic?: string }[],
): ReadonlyMap<string, Actor> {
  const actors = new Map(natsUsers().map(({ name, actor }) => [name, actor]));
  return new Map(
    users.flatMap(({ name, nkeyPublic }): [string, Actor][] => {
      const actor = actors.get(name);
      return actor === undefined || nkeyPublic === undefined ? [] : [[nkeyPublic, actor]];
    }),
  );
}

function orchestrator(): NatsUserSpec {
  const partitions = Array.from({ length: PARTITIONS }, (_, partition) => Object.values(partitionDurables(partition)));
  return service('orchestrator', {
    publish: [
      subjects.anyRun,
      subjects.anyRunTimer,
      subjects.anyAnswer,
      subjects.anyVerb,
      ...[DURABLES.requests, ...partitions.flat()].flatMap(consumesDurable),
      ...loads('RUNS'),
      ...loads('ATTEMPTS'),
      ...loads('PLANS'),
      ...loads('TIMERS'),
      ...loads('REQUESTS'),
      ...readsBucket(BUCKETS.AGENT_PROFILES.bucket),
      ...readsBucket(BUCKETS.MEMBERS.bucket),
      ...readsBucket(BUCKETS.ACTORS.bucket),
      ...readsBucket(BUCKETS.REVOKED_GRANTS.bucket),
      ...readsArtifacts(),
      key(BUCKETS.MEMBERS.bucket, 'orchestrator.*'),
    ],
    subscribe: [subjects.submit, subjects.anyVerb],
  });
}

function registry(): NatsUserSpec {
  return service('registry', {
    publish: [
      subjects.anyFleet,
      subjects.anyDeviceTimer,
      ...consumesDurable(DURABLES.registryDue),
      ...loads('FLEET'),
      ...follows('FLEET'),
      ...loads('TIMERS'),
      ...readsBucket(BUCKETS.PRESENCE.bucket),
      ...readsBucket(BUCKETS.ACTORS.bucket),
      ...readsBucket(BUCKETS.REVOKED_GRANTS.bucket),
      ...readsBucket(BUCKETS.AGENT_PROFILES.bucket),
      key(BUCKETS.AGENT_PROFILES.bucket, '*'),
      key(BUCKETS.REVOKED_GRANTS.bucket, '*'),
    ],
    subscribe: [],
  });
}

/** Asks who somebody is, never enrols or revokes anybody; submits and cancels for the clients that are connected to it. */
function aipGateway(): NatsUserSpec {
  const permissions = service('aip-gateway', {
    publish: [
      ...GATEWAY_QUERIES,
      subjects.submit,
      ...verbsOf('aip-gateway'),
      subjects.anyOutput,
      ...loads('RUNS'),
      ...readsBucket(BUCKETS.PRESENCE.bucket),
      key(BUCKETS.PRESENCE.bucket, '*'),
      ...readsBucket(BUCKETS.AGENT_PROFILES.bucket),
      ...readsArtifacts(),
      `$O.${ARTIFACTS_BUCKET}.>`,
    ],
    subscribe: [subjects.anyDeviceCommand, subjects.anyDeviceSession, subjects.anyLiveRun],
  });
  return { ...permissions, actor: { kind: 'system', id: 'aip-gateway' } };
}

function deviceAgent(): NatsUserSpec {
  return service('device-agent', {
    publish: [
      subjects.anyAttempt,
      subjects.anyDeviceCommand,
      subjects.anyDeviceSession,
      subjects.anyOutput,
      ...consumesDurable(DURABLES.deviceAgentAttempts),
      ...consumesDurable(DURABLES.deviceAgentControl),
      ...loads('RUNS'),
      ...loads('ATTEMPTS'),
      ...readsBucket(BUCKETS.AGENT_PROFILES.bucket),
      opensBucket(BUCKETS.MEMBERS.bucket),
      key(BUCKETS.MEMBERS.bucket, 'device-agent.*'),
      ...readsArtifacts(),
      `$O.${ARTIFACTS_BUCKET}.>`,
    ],
    subscribe: [],
  });
}

function logging(): NatsUserSpec {
  const streams = ['RUNS', 'ATTEMPTS', 'PLANS', 'FLEET', 'FEED'] as const;
  return service('logging', {
    publish: [
      subjects.anyFeed,
      ...streams.flatMap((stream) => [...loads(stream), ...follows(stream)]),
      ...readsArtifacts(),
    ],
    subscribe: [],
  });
}

function consoleUser(): NatsUserSpec {
  const streams = ['RUNS', 'FEED'] as const;
  const permissions = service('console', {
    publish: [
      subjects.submit,
      ...PEOPLES_QUERIES,
      ...verbsOf('console'),
      ...streams.flatMap((stream) => [...loads(stream), ...follows(stream)]),
    ],
    subscribe: [subjects.anyLiveRun, subjects.anyAnswer, subjects.anyOutput],
  });
  return { ...permissions, actor: { kind: 'person', id: 'console' } };
}

/** Plans for runs: reads how they go and what devices there are, and writes what it proposes. The verb is for those who edit through it. */
function planner(): NatsUserSpec {
  const streams = ['RUNS', 'FEED'] as const;
  const permissions = service('planner', {
    publish: [
      subjects.anyPlan,
      ...verbsOf('planner'),
      ...consumesDurable(DURABLES.plannerRounds),
      ...loads('PLANS'),
      ...loads('ATTEMPTS'),
      ...readsArtifacts(),
      `$O.${ARTIFACTS_BUCKET}.>`,
      ...readsBucket(BUCKETS.ACTORS.bucket),
      ...readsBucket(BUCKETS.REVOKED_GRANTS.bucket),
      ...readsBucket(BUCKETS.MEMBERS.bucket),
      key(BUCKETS.MEMBERS.bucket, 'planner.*'),
      ...streams.flatMap((stream) => [...loads(stream), ...follows(stream)]),
      ...readsBucket(BUCKETS.AGENT_PROFILES.bucket),
    ],
    subscribe: [],
  });
  return { ...permissions, actor: { kind: 'system', id: 'planner' } };
}

/** A person at a terminal: asks, submits and reads everything, changes nothing but through the services. */
function cli(): NatsUserSpec {
  const streams = ['RUNS', 'ATTEMPTS', 'PLANS', 'FLEET', 'FEED', 'DLQ'] as const;
  const permissions = user('cli', {
    publish: [
      ACCOUNT_INFO,
      SERVICES,
      subjects.requests,
      subjects.submit,
      ...PEOPLES_QUERIES,
      ...verbsOf('cli'),
      ...streams.flatMap((stream) => [...loads(stream), ...follows(stream)]),
      ...readsBucket(BUCKETS.AGENT_PROFILES.bucket),
      ...readsArtifacts(),
    ],
    subscribe: [subjects.anyLiveRun, subjects.anyAnswer, subjects.anyOutput],
  });
  return { ...permissions, actor: { kind: 'person', id: 'cli' } };
}

/** Another system: publishes requests, hears their answers, follows the public feed with consumers of its own. */
function external(): NatsUserSpec {
  const permissions = user('external', {
    publish: [ACCOUNT_INFO, subjects.requests, subjects.submit, ...follows('FEED'), ...acknowledges('FEED', '*')],
    subscribe: [subjects.anyLiveRun, subjects.anyAnswer],
  });
  return { ...permissions, actor: { kind: 'external', id: 'external' } };
}

/** Reads the logs, all of them, and nothing else. */
function auditor(): NatsUserSpec {
  const streams = ['RUNS', 'ATTEMPTS', 'PLANS', 'FLEET'] as const;
  return user('auditor', {
    publish: [ACCOUNT_INFO, ...streams.flatMap((stream) => [...loads(stream), ...follows(stream)])],
    subscribe: [],
  });
}

interface Permissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
  readonly allowResponses?: boolean;
}

/** Every user has inboxes of its own: nobody can listen for another's answers. */
function user(name: string, { publish, subscribe, allowResponses = false }: Permissions): NatsUserSpec {
  return { name, publish: [...new Set(publish)], subscribe: [`_INBOX_${name}.>`, ...subscribe], allowResponses };
}

/** A service may serve its queries and bury what it cannot handle. */
function service(name: string, { publish, subscribe }: Permissions): NatsUserSpec {
  return user(name, {
    publish: [ACCOUNT_INFO, subjects.dlq(name), ...publish],
    subscribe: [SERVICES, subjects.anyQueryOf(name), ...subscribe],
    allowResponses: true,
  });
}

/** Single messages and pages of a stream, without a consumer. */
function loads(stream: string): string[] {
  return [
    `${API}.STREAM.INFO.${stream}`,
    `${API}.STREAM.MSG.GET.${stream}`,
    `${API}.DIRECT.GET.${stream}`,
    `${API}.DIRECT.GET.${stream}.>`,
  ];
}

/** A stream in order and live: ephemeral consumers, made by the reader. */
function follows(stream: StreamName): string[] {
  return [
    `${API}.STREAM.INFO.${stream}`,
    // Without a name when a reader has several filters.
    `${API}.CONSUMER.CREATE.${stream}`,
    `${API}.CONSUMER.CREATE.${stream}.>`,
    `${API}.CONSUMER.INFO.${stream}.*`,
    `${API}.CONSUMER.MSG.NEXT.${stream}.*`,
  ];
}

/** The messages of a durable that somebody else made. */
function consumesDurable({ stream, durable }: DurableSpec): string[] {
  return [
    `${API}.CONSUMER.INFO.${stream}.${durable}`,
    `${API}.CONSUMER.MSG.NEXT.${stream}.${durable}`,
    ...acknowledges(stream, durable),
  ];
}

/** Both forms that servers use for the ack subject: without and with domain and account. */
function acknowledges(stream: string, durable: string): string[] {
  return [`$JS.ACK.${stream}.${durable}.>`, `$JS.ACK.*.*.${stream}.${durable}.>`];
}

/** Keys of a bucket, and watching them: an ordered push consumer with flow control. */
function readsBucket(bucket: string): string[] {
  return watches(`KV_${bucket}`);
}

/** To write a key of one's own; what others have written stays unread. */
function opensBucket(bucket: string): string {
  return `${API}.STREAM.INFO.KV_${bucket}`;
}

function readsArtifacts(): string[] {
  return watches(`OBJ_${ARTIFACTS_BUCKET}`);
}

function watches(stream: string): string[] {
  return [
    ...loads(stream),
    `${API}.CONSUMER.CREATE.${stream}.>`,
    `${API}.CONSUMER.INFO.${stream}.*`,
    `${API}.CONSUMER.DELETE.${stream}.*`,
    `$JS.FC.${stream}.>`,
    `$JS.FC.*.*.${stream}.>`,
  ];
}

function key(bucket: string, pattern: string): string {
  return `$KV.${bucket}.${pattern}`;
}
