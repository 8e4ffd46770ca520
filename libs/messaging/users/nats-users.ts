import type { OutsideAccount } from '#libs/embedded';
import { OWN_KEY } from '#libs/keys';
import {
  ARTIFACTS_BUCKET,
  BUCKETS,
  DURABLE_STREAMS,
  DURABLES,
  FIRST_EXTERNAL,
  keysOfBucket,
  liveSubjectOf,
  PARTITIONS,
  partitionDurables,
  QUERIES,
  STREAMS,
  subjects,
  Role,
  RUN_VERBS,
  VERB_ROWS,
  type Actor,
  type DurableSpec,
  type StreamName,
  type VerbSender,
} from '#proto';
import { outsideUser, personAccount } from './outside.js';

/** One client identity of the bus and all it may do; what is not listed is refused. Devices have none: they speak AIP only. */
export interface NatsUserSpec {
  readonly name: string;
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
  /** May answer the requests it receives. */
  readonly allowResponses: boolean;
  /** The account of an external system; with the services when absent. */
  readonly outside?: OutsideAccount;
  /** Whom its key stands for in a signed command. A user without one commands nobody. */
  readonly actor?: Actor;
  /** What its actor is trusted with: a person at first, a service always. */
  readonly roles?: readonly Role[];
  /** It may say in whose name it sends a command. */
  readonly mayVouch?: true;
}

const API = '$JS.API';
const ACCOUNT_INFO = `${API}.INFO`;
/** Discovery of micro services. */
const SERVICES = '$SRV.>';
const EVERYTHING = '>';
/** The signed verbs of a user. SUBMIT names whom one replica of the orchestrator has found out to ask: only they send it to each other. */
const verbsOf = (sender: VerbSender): string[] =>
  RUN_VERBS.filter((verb) => VERB_ROWS[verb].senders.includes(sender)).map((verb) => subjects.anyVerbOf(verb));

/** What only gateways ask: who a client is, and what a device has brought. A client that may ask that can speak for any device. */
const GATEWAY_QUERIES = [
  ...(['identify', 'join', 'renew', 'revocations'] as const).map((name) => subjects.query('registry', name)),
  subjects.query('device-agent', 'deliver'),
];
/** What only who lets people in by their tokens says. */
const TOKEN_USED = subjects.query('registry', 'token-used');
/** What a person has read of streams, by the word of the program that he uses: whose key it is the server sees to. */
const OWN_ACCESS = subjects.accessByKey(OWN_KEY);
/** What people ask, and change. */
const PEOPLES_QUERIES = Object.entries(QUERIES)
  .flatMap(([service, queries]) => Object.keys(queries).map((name) => subjects.query(service, name)))
  .filter((subject) => subject !== TOKEN_USED && !GATEWAY_QUERIES.includes(subject));

/**
 * Every user of the bus. Only the owner of a stream publishes to its subjects, no service deletes or changes a stream, and nobody but
 * the administrator makes, changes or deletes a consumer: the server cannot tell whose one is, and one that pushes publishes in
 * the name of the server. Only those of FEED are the registry's: what one of them could push are public events, which
 * nobody takes for anything else. Who reads a stream reads all of it.
 */
export const natsUsers = (): readonly NatsUserSpec[] => [...SERVICE_USERS, ...PEOPLE];

const SERVICE_USERS: readonly NatsUserSpec[] = [
  service('orchestrator', {
    publish: [
      subjects.anyRun,
      subjects.anyRunTimer,
      subjects.anyAnswer,
      subjects.anyAnswerTo,
      subjects.anyVerb,
      ...consumesDurables(
        DURABLES.requests,
        DURABLES.actorRequests,
        ...Array.from({ length: PARTITIONS }, (_, partition) => Object.values(partitionDurables(partition))).flat(),
      ),
      ...loads('RUNS', 'ATTEMPTS', 'PLANS', 'TIMERS', 'REQUESTS'),
      ...loadsBuckets('MEMBERS', 'VERB_ANSWERS'),
      ...readsArtifacts(),
      key('MEMBERS', 'orchestrator.*'),
      key('VERB_ANSWERS', '*'),
    ],
    subscribe: [subjects.submit, subjects.anyVerb],
    buckets: ['AGENT_PROFILES', 'ACTORS', 'REVOKED_GRANTS'],
  }),
  service('registry', {
    publish: [
      subjects.anyFleet,
      subjects.anyActor,
      subjects.anyDeviceTimer,
      ...consumesDurables(DURABLES.registryDue),
      ...keepsConsumersOf('FEED', subjects.anyFeed),
      ...loads('TIMERS', 'ACCESS'),
      key('AGENT_PROFILES', '*'),
      key('ACTORS', '*'),
      key('REVOKED_GRANTS', '*'),
    ],
    reads: ['FLEET', 'ACTORS'],
    buckets: ['PRESENCE', 'ACTORS', 'REVOKED_GRANTS', 'AGENT_PROFILES'],
  }),
  // Asks who somebody is, never enrols or revokes anybody; submits and cancels for the clients that are connected to it.
  service('aip-gateway', {
    publish: [
      ...GATEWAY_QUERIES,
      subjects.submit,
      ...verbsOf('aip-gateway'),
      subjects.anyOutput,
      ...loads('RUNS'),
      key('PRESENCE', '*'),
      ...writesArtifacts(),
    ],
    subscribe: [subjects.anyDeviceCommand, subjects.anyDeviceSession, subjects.anyLiveRun],
    buckets: ['PRESENCE', 'AGENT_PROFILES'],
    actor: { kind: 'system', id: 'aip-gateway' },
    roles: ['requester', 'operator'],
  }),
  service('device-agent', {
    publish: [
      subjects.anyAttempt,
      subjects.anyDeviceCommand,
      subjects.anyDeviceSession,
      subjects.anyOutput,
      ...verbsOf('device-agent'),
      ...consumesDurables(DURABLES.deviceAgentAttempts, DURABLES.deviceAgentControl, DURABLES.deviceAgentEnds),
      ...loads('RUNS', 'ATTEMPTS'),
      opensBucket('MEMBERS'),
      key('MEMBERS', 'device-agent.*'),
      ...writesArtifacts(),
    ],
    buckets: ['AGENT_PROFILES', 'ACTORS', 'REVOKED_GRANTS'],
    // It writes on the boards of runs for the attempts that it carries out, and says no other verb.
    actor: { kind: 'system', id: 'device-agent' },
    roles: ['operator'],
  }),
  // It also tells in figures how far everybody is with what waits, for which it looks at the first message that does.
  service('logging', {
    publish: [
      subjects.anyFeed,
      subjects.anyAttention,
      ...loads('FEED', 'DLQ', 'REQUESTS', 'TIMERS'),
      ...DURABLE_STREAMS.map(listsConsumersOf),
      ...readsArtifacts(),
    ],
    reads: ['RUNS', 'ATTEMPTS', 'PLANS', 'FLEET', 'ATTENTION'],
    buckets: ['ACTORS', 'REVOKED_GRANTS'],
  }),
  service('console', {
    publish: [
      subjects.submit,
      ...PEOPLES_QUERIES,
      TOKEN_USED,
      ...verbsOf('console'),
      ...loadsAny(`KV_${BUCKETS.SESSIONS.bucket}`),
      key('SESSIONS', '*'),
      subjects.anyAccessAt('console'),
      ...readsArtifacts(),
    ],
    // All that a run can be verified with in a browser.
    reads: ['RUNS', 'ATTEMPTS', 'PLANS', 'OUTPUT', 'FEED', 'ATTENTION', 'ACTORS'],
    buckets: ['ACTORS', 'REVOKED_GRANTS'],
    // It says in whose name it sends something, and decides nothing itself.
    actor: { kind: 'system', id: 'console' },
    mayVouch: true,
  }),
  // Plans for runs: reads how they go and what devices there are, and writes what it proposes. The verb is for those who edit through it.
  service('planner', {
    publish: [
      subjects.anyPlan,
      ...verbsOf('planner'),
      ...consumesDurables(DURABLES.plannerRounds),
      ...loads('PLANS', 'ATTEMPTS'),
      ...writesArtifacts(),
      ...loadsBuckets('MEMBERS'),
      key('MEMBERS', 'planner.*'),
      ...loads('RUNS'),
    ],
    buckets: ['ACTORS', 'REVOKED_GRANTS', 'AGENT_PROFILES'],
    actor: { kind: 'system', id: 'planner' },
    roles: ['operator'],
  }),
];

const PEOPLE: readonly NatsUserSpec[] = [
  // A person at a terminal: asks, submits and reads everything, changes nothing but through the services.
  person('cli', {
    publish: [
      ACCOUNT_INFO,
      SERVICES,
      subjects.submit,
      ...PEOPLES_QUERIES,
      ...verbsOf('cli'),
      ...readsArtifacts(),
      OWN_ACCESS,
    ],
    reads: ['RUNS', 'ATTEMPTS', 'OUTPUT', 'PLANS', 'FLEET', 'ACTORS', 'ATTENTION', 'FEED', 'DLQ'],
    buckets: ['AGENT_PROFILES'],
    actor: { kind: 'person', id: 'cli' },
    // The first person of an installation: there is nobody else yet.
    roles: Role.options,
  }),
  // Another system: publishes requests, hears their answers, follows its feed with the durable that is made for it.
  user(FIRST_EXTERNAL, {
    ...outsideUser(FIRST_EXTERNAL),
    actor: { kind: 'external', id: FIRST_EXTERNAL },
    roles: ['requester'],
  }),
  // Reads the logs, all of them, and asks which runs there are, and who looked at what.
  person('auditor', {
    publish: [ACCOUNT_INFO, subjects.query('logging', 'runs'), subjects.query('registry', 'access'), OWN_ACCESS],
    reads: ['RUNS', 'ATTEMPTS', 'PLANS', 'FLEET', 'ACTORS', 'ATTENTION'],
    actor: { kind: 'person', id: 'auditor' },
    roles: ['auditor'],
  }),
  user('admin', {
    publish: [EVERYTHING],
    subscribe: [EVERYTHING],
    allowResponses: true,
    actor: { kind: 'system', id: 'admin' },
    // Whoever mends an installation sees which devices it has; on the bus the key reads everything anyway.
    roles: ['admin', 'viewer'],
  }),
];

/** The actors behind the public keys of these users: what the file of actors says to the registry. */
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

interface Permissions
  extends
    Pick<NatsUserSpec, 'publish' | 'actor' | 'roles' | 'mayVouch' | 'outside'>,
    Partial<Pick<NatsUserSpec, 'subscribe' | 'allowResponses'>> {
  /** Streams in order and live. */
  readonly reads?: readonly StreamName[];
  /** Buckets that are read whole and followed. */
  readonly buckets?: readonly BucketName[];
}

/** Every user has inboxes of its own: nobody can listen for another's answers. */
function user(name: string, permissions: Permissions): NatsUserSpec {
  const { publish, subscribe = [], allowResponses = false, reads = [], buckets = [], ...actor } = permissions;
  const inboxes = `_INBOX_${name}.>`;
  const news = [
    ...reads.flatMap((stream) => STREAMS[stream].subjects),
    ...buckets.map((bucket) => keysOfBucket(BUCKETS[bucket].bucket)),
  ].map(liveSubjectOf);
  return {
    ...actor,
    name,
    publish: [...new Set([...publish, ...loads(...reads), ...loadsBuckets(...buckets)])],
    subscribe: [inboxes, ...news, ...subscribe],
    allowResponses,
  };
}

/** Whatever a person asks is answered in an account of his own. */
function person(name: string, permissions: Permissions): NatsUserSpec {
  const spec = user(name, permissions);
  return { ...spec, outside: personAccount(name, spec) };
}

/** A service may serve its queries and bury what it cannot handle. */
function service(name: string, { publish, subscribe = [], ...rest }: Permissions): NatsUserSpec {
  return user(name, {
    ...rest,
    publish: [ACCOUNT_INFO, subjects.dlq(name), ...publish],
    subscribe: [SERVICES, subjects.anyQueryOf(name), ...subscribe],
    allowResponses: true,
  });
}

/** Single messages and pages of streams, without a consumer and without hearing what comes. */
function loads(...streams: StreamName[]): string[] {
  return streams.flatMap(loadsAny);
}

function loadsAny(stream: string): string[] {
  return [
    `${API}.STREAM.INFO.${stream}`,
    `${API}.STREAM.MSG.GET.${stream}`,
    `${API}.DIRECT.GET.${stream}`,
    `${API}.DIRECT.GET.${stream}.>`,
  ];
}

/** The messages of durables that somebody else made. */
function consumesDurables(...durables: DurableSpec[]): string[] {
  return durables.flatMap(({ stream, durable }) => [
    // To see that they are as they have to be.
    listsConsumersOf(stream),
    `${API}.CONSUMER.INFO.${stream}.${durable}`,
    `${API}.CONSUMER.MSG.NEXT.${stream}.${durable}`,
    ...acknowledges(stream, durable),
  ]);
}

/** Where each consumer of a stream is, and how it is made. */
function listsConsumersOf(stream: string): string {
  return `${API}.CONSUMER.LIST.${stream}`;
}

/** Every consumer of a stream, filtered: who may make one may give it any name. */
function keepsConsumersOf(stream: StreamName, filter: string): string[] {
  return [
    listsConsumersOf(stream),
    ...['INFO', 'DELETE'].map((call) => `${API}.CONSUMER.${call}.${stream}.*`),
    `${API}.CONSUMER.CREATE.${stream}.*.${filter}`,
  ];
}

/** Both forms that servers use for the ack subject: without and with domain and account. */
function acknowledges(stream: string, durable: string): string[] {
  return [`$JS.ACK.${stream}.${durable}.>`, `$JS.ACK.*.*.${stream}.${durable}.>`];
}

type BucketName = keyof typeof BUCKETS;

/** Keys of buckets, without hearing what changes. */
function loadsBuckets(...buckets: BucketName[]): string[] {
  return buckets.flatMap((bucket) => loadsAny(`KV_${BUCKETS[bucket].bucket}`));
}

/** To write a key of one's own; what others have written stays unread. */
function opensBucket(bucket: BucketName): string {
  return `${API}.STREAM.INFO.KV_${BUCKETS[bucket].bucket}`;
}

function key(bucket: BucketName, pattern: string): string {
  return `$KV.${BUCKETS[bucket].bucket}.${pattern}`;
}

function readsArtifacts(): string[] {
  return loadsAny(`OBJ_${ARTIFACTS_BUCKET}`);
}

function writesArtifacts(): string[] {
  return [...readsArtifacts(), `$O.${ARTIFACTS_BUCKET}.>`];
}
