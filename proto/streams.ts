import { FIRST_EXTERNAL, type ActorId } from './actors.js';
import type { FeedShare } from './feed.js';
import { LIMITS } from './limits.js';
import { keysOfBucket, liveSubjectOf, PARTITIONS, subjects } from './subjects.js';

const DAY_MS = 24 * 60 * 60 * 1000;

interface Republish {
  readonly source: string;
  readonly destination: string;
  /** Without the content: who hears of it reads it. */
  readonly headersOnly?: boolean;
}

/** Told of without its content, for those who read on when they hear of it. */
const told = (source: string): Republish => ({
  source,
  destination: liveSubjectOf(source).replace('*', '{{wildcard(1)}}'),
  headersOnly: true,
});

/** A stream as data; `libs/messaging` turns it into the server's configuration and finds drift. All are file-stored, limits, fsynced. */
export interface StreamSpec {
  readonly name: string;
  readonly subjects: readonly string[];
  readonly description: string;
  readonly messageBytesMax: number;
  /** Window for `Nats-Msg-Id`. */
  readonly dedupeMs: number;
  readonly ageMsMax?: number;
  /** Messages: more forget the oldest, and a server that dies may lose the newest. Only for what is kept elsewhere, too. */
  readonly forgetsAbove?: number;
  /** Of one subject: who fills his own keeps nobody else from writing. */
  readonly messagesPerSubjectMax?: number;
  readonly denyDelete?: boolean;
  readonly denyPurge?: boolean;
  /** Where the server tells those who read the stream what it has just stored. */
  readonly republish?: Republish;
  /** Scheduled messages: only for streams that nobody outside may publish to. */
  readonly schedules?: boolean;
}

export const STREAMS = {
  REQUESTS: {
    name: 'REQUESTS',
    subjects: [subjects.requests, subjects.anyRequestsOf],
    description: 'requests of external systems; every delivery is answered',
    // Larger ones than allowed are stored up to the server's limit too, so that the refusal can be answered.
    messageBytesMax: LIMITS.natsPayloadBytesMax,
    dedupeMs: 100,
    ageMsMax: 30 * DAY_MS,
  },
  RUNS: {
    name: 'RUNS',
    subjects: [subjects.anyRun],
    description: 'the event log: one subject per run, one message per commit',
    messageBytesMax: LIMITS.commitBytesMax,
    dedupeMs: 120_000,
    denyDelete: true,
    republish: { source: subjects.anyRun, destination: subjects.liveRun('{{wildcard(1)}}') },
  },
  ATTEMPTS: {
    name: 'ATTEMPTS',
    subjects: [subjects.anyAttempt],
    description: 'the steps and the end of every attempt on a device',
    messageBytesMax: LIMITS.commitBytesMax,
    dedupeMs: 120_000,
    denyDelete: true,
    republish: told(subjects.anyAttempt),
  },
  PLANS: {
    name: 'PLANS',
    subjects: [subjects.anyPlan],
    description: 'what the planner asked models, what they said and what was proposed, by run',
    messageBytesMax: LIMITS.commitBytesMax,
    dedupeMs: 120_000,
    denyDelete: true,
    republish: told(subjects.anyPlan),
  },
  FLEET: {
    name: 'FLEET',
    subjects: [subjects.anyFleet],
    description: 'device facts',
    messageBytesMax: LIMITS.commitBytesMax,
    dedupeMs: 120_000,
    denyDelete: true,
    republish: told(subjects.anyFleet),
  },
  ACTORS: {
    name: 'ACTORS',
    subjects: [subjects.anyActor],
    description: 'people, systems and their roles, keys, tokens and logins',
    messageBytesMax: LIMITS.commitBytesMax,
    dedupeMs: 120_000,
    denyDelete: true,
    republish: told(subjects.anyActor),
  },
  ATTENTION: {
    name: 'ATTENTION',
    subjects: [subjects.anyAttention],
    description: 'who took on or settled what needs somebody',
    messageBytesMax: LIMITS.commitBytesMax,
    dedupeMs: 120_000,
    denyDelete: true,
    republish: told(subjects.anyAttention),
  },
  ACCESS: {
    name: 'ACCESS',
    subjects: [subjects.anyAccess],
    description: 'who read, exported and verified what, who came in and who did not',
    messageBytesMax: 8 * 1024,
    dedupeMs: 120_000,
    ageMsMax: LIMITS.accessMs,
    messagesPerSubjectMax: LIMITS.accessesPerSubjectMax,
    denyDelete: true,
    denyPurge: true,
  },
  TIMERS: {
    name: 'TIMERS',
    subjects: [subjects.anyTimer, subjects.anyDue],
    description: 'scheduled wake-ups and the due messages they become',
    messageBytesMax: 4 * 1024,
    dedupeMs: 100,
    schedules: true,
  },
  FEED: {
    name: 'FEED',
    subjects: [subjects.anyFeed],
    description: 'public: every event of every run as a CloudEvents 1.0 JSON message, in order',
    messageBytesMax: LIMITS.commitBytesMax,
    dedupeMs: 120_000,
    ageMsMax: 30 * DAY_MS,
    republish: told(subjects.anyFeed),
  },
  OUTPUT: {
    name: 'OUTPUT',
    subjects: [subjects.anyOutput],
    description: 'what commands write while they run, for who comes later; whole it is in the results',
    messageBytesMax: 256 * 1024,
    dedupeMs: 100,
    ageMsMax: DAY_MS,
    forgetsAbove: 250_000,
    republish: { source: subjects.anyOutput, destination: liveSubjectOf(subjects.anyOutput) },
  },
  DLQ: {
    name: 'DLQ',
    subjects: [subjects.anyDlq],
    description: 'messages that are themselves bad, as they came, with the reason',
    messageBytesMax: LIMITS.natsPayloadBytesMax,
    dedupeMs: 120_000,
    republish: told(subjects.anyDlq),
  },
} as const satisfies Record<string, StreamSpec>;

export type StreamName = keyof typeof STREAMS;

/** Due messages are dropped after this; pending ones never are. */
export const DUE_TTL_MS = 30 * DAY_MS;

/** A durable consumer as data: explicit acks, `ack_wait` 3 s, no delivery limit (poison is settled at its first failure). */
export interface DurableSpec {
  readonly stream: StreamName;
  readonly durable: string;
  readonly filters: readonly string[];
  /** Instead of ACK_WAIT_MS, where a replica that died must not hold its messages that long. */
  readonly ackWaitMs?: number;
  /** For a system outside: it begins with what comes after it was made, and that nobody takes from it is no fault of ours. */
  readonly isOutside?: boolean;
}

export const ACK_WAIT_MS = 3_000;
/** Ends of attempts are settled within milliseconds: what a dead orchestrator held comes back when its successor is ready. */
export const PARTITION_ACK_WAIT_MS = 1_000;
/** How long a pull waits at the server: a replica that stands still is given messages for this long, each of which then waits for `ack_wait`. */
export const PULL_EXPIRY_MS = 2_000;
/** Where no other replica could take what a replica that stands still is given: three messages per pull are most of what a system at rest says. */
export const LONE_PULL_EXPIRY_MS = 10_000;

export const DURABLES = {
  requests: { stream: 'REQUESTS', durable: 'orchestrator-requests', filters: [subjects.requests] },
  actorRequests: { stream: 'REQUESTS', durable: 'orchestrator-actor-requests', filters: [subjects.anyRequestsOf] },
  deviceAgentAttempts: { stream: 'RUNS', durable: 'device-agent-attempts', filters: [subjects.anyRun] },
  deviceAgentControl: { stream: 'RUNS', durable: 'device-agent-control', filters: [subjects.anyRun] },
  /** Runs that have ended: their devices are told. Held until each has heard of it, which may take until it is back. */
  deviceAgentEnds: { stream: 'RUNS', durable: 'device-agent-ends', filters: [subjects.anyRun] },
  /** Rounds that are opened, and runs that have ended. */
  plannerRounds: { stream: 'RUNS', durable: 'planner-rounds', filters: [subjects.anyRun] },
  registryDue: { stream: 'TIMERS', durable: 'registry-due', filters: [subjects.anyDeviceDue] },
} as const satisfies Record<string, DurableSpec>;

/** The inputs of one partition: served by the one replica that owns it. */
export function partitionDurables(partition: number): Record<'attempts' | 'plans' | 'timers', DurableSpec> {
  return {
    attempts: {
      stream: 'ATTEMPTS',
      durable: `orchestrator-attempts-${partition}`,
      filters: (['ask', 'end', 'late'] as const).map((kind) => subjects.attemptsOfPartition(partition, kind)),
      ackWaitMs: PARTITION_ACK_WAIT_MS,
    },
    plans: {
      stream: 'PLANS',
      durable: `orchestrator-plans-${partition}`,
      filters: [subjects.plansOfPartition(partition)],
      ackWaitMs: PARTITION_ACK_WAIT_MS,
    },
    timers: {
      stream: 'TIMERS',
      durable: `orchestrator-timers-${partition}`,
      filters: [subjects.runsDueOfPartition(partition)],
      ackWaitMs: PARTITION_ACK_WAIT_MS,
    },
  };
}

/** By which an external system follows FEED, from when it was made: the server remembers how far it is. Made by the registry. */
export function feedDurable(actorId: ActorId, share: FeedShare = 'own'): DurableSpec {
  return {
    stream: 'FEED',
    durable: actorId === FIRST_EXTERNAL ? FIRST_EXTERNAL : `${FIRST_EXTERNAL}-${actorId}`,
    filters: [share === 'all' ? subjects.anyFeed : subjects.feedOf(actorId)],
    isOutside: true,
  };
}

/** Whether a consumer of FEED is one of those: nobody else makes one there. */
export const isFeedDurable = (stream: string, name: string): boolean =>
  stream === STREAMS.FEED.name && (name === FIRST_EXTERNAL || name.startsWith(`${FIRST_EXTERNAL}-`));

/** What setup makes; the others are the registry's. */
export function allDurables(): DurableSpec[] {
  const partitions = Array.from({ length: PARTITIONS }, (_, partition) => Object.values(partitionDurables(partition)));
  return [...Object.values(DURABLES), ...partitions.flat()];
}

/** Streams that somebody takes messages of, each with a durable: ours, and those of systems outside. */
export const DURABLE_STREAMS: readonly StreamName[] = ['REQUESTS', 'RUNS', 'ATTEMPTS', 'PLANS', 'TIMERS', 'FEED'];

export interface BucketSpec {
  readonly bucket: string;
  readonly history: number;
  /** Keys vanish when they are not renewed for this long. */
  readonly ttlMs?: number;
  /** May be lost with the server, because its owners write it again within its TTL. */
  readonly rebuilt?: boolean;
}

export const BUCKETS = {
  AGENT_PROFILES: { bucket: 'AGENT_PROFILES', history: 5 },
  PRESENCE: { bucket: 'PRESENCE', history: 1, ttlMs: LIMITS.presenceTtlMs, rebuilt: true },
  /** What the stream ACTORS says of each actor, by its id; written by the registry only. */
  ACTORS: { bucket: 'ACTORS', history: 1 },
  /** What FLEET says of grants that count no more, by the sequence of the fact; one that nobody could use any more vanishes. */
  REVOKED_GRANTS: { bucket: 'REVOKED_GRANTS', history: 1, ttlMs: LIMITS.grantRevocationMs },
  /** Final answers of verbs, by run, sender and id: whoever says the same again gets the first one. */
  VERB_ANSWERS: { bucket: 'VERB_ANSWERS', history: 1, ttlMs: LIMITS.verbAnswersMs },
  /** Sessions of browsers, by the hash of what only the browser has; written by the consoles. */
  SESSIONS: { bucket: 'SESSIONS', history: 1, ttlMs: LIMITS.sessionIdleMs },
  MEMBERS: { bucket: 'MEMBERS', history: 1, ttlMs: LIMITS.memberTtlMs, rebuilt: true },
} as const satisfies Record<string, BucketSpec>;

/** What is written into a bucket is told of, too. */
export const bucketRepublish = ({ bucket }: BucketSpec): Republish => told(keysOfBucket(bucket));

/** Large outputs and files, by the SHA-256 of their content. */
export const ARTIFACTS_BUCKET = 'ARTIFACTS';
