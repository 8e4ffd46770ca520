import {
  AckPolicy,
  DeliverPolicy,
  DiscardPolicy,
  PersistMode,
  ReplayPolicy,
  RetentionPolicy,
  StorageType,
} from '@nats-io/jetstream';
import type { ConsumerConfig, StreamConfig } from '@nats-io/jetstream';
import { ACK_WAIT_MS, ARTIFACTS_BUCKET, bucketRepublish, BUCKETS, LIMITS, STREAMS } from '#proto';
import type { BucketSpec, DurableSpec, StreamSpec } from '#proto';

/** Durables and readers of one stream; the server's own default would be 1000. */
const CONSUMERS_MAX = 2_000;
const DEDUPE_MS_MAX = 120_000;
const NANOS_PER_MS = 1_000_000;
/** Marks the end of a key that expired, so that watchers hear of it; the server takes no less. */
const MARKER_TTL_MS = 1_000;

export type StreamSetting = Partial<StreamConfig> & { readonly name: string };
export type ConsumerSetting = Partial<ConsumerConfig> & { readonly durable_name: string };

const COMMON = {
  retention: RetentionPolicy.Limits,
  storage: StorageType.File,
  num_replicas: 1,
  max_consumers: CONSUMERS_MAX,
  max_msgs: -1,
  max_bytes: -1,
  allow_direct: true,
} satisfies Partial<StreamConfig>;

/** A stream of ours in the server's terms. A full stream refuses; only one that says so forgets. */
export function streamSetting(spec: StreamSpec): StreamSetting {
  const { forgetsAbove: forgets } = spec;
  return {
    ...COMMON,
    name: spec.name,
    subjects: [...spec.subjects],
    description: spec.description,
    // A schedule replaces the one before it, which the server allows only where old messages may go; no limit makes them go.
    discard: spec.schedules === true || forgets !== undefined ? DiscardPolicy.Old : DiscardPolicy.New,
    max_msg_size: spec.messageBytesMax,
    max_msgs_per_subject: spec.messagesPerSubjectMax ?? -1,
    discard_new_per_subject: spec.messagesPerSubjectMax !== undefined,
    max_age: nanos(spec.ageMsMax ?? 0),
    ...(forgets === undefined ? {} : { max_msgs: forgets, persist_mode: PersistMode.Async }),
    duplicate_window: nanos(spec.dedupeMs),
    deny_delete: spec.denyDelete ?? false,
    deny_purge: spec.denyPurge ?? false,
    ...(spec.republish === undefined ? {} : { republish: republishSetting(spec.republish) }),
    // The server wants the three together: a schedule is a message with a time to live that rolls up its own subject.
    ...(spec.schedules === true ? { allow_msg_schedules: true, allow_msg_ttl: true, allow_rollup_hdrs: true } : {}),
  };
}

function republishSetting({
  source,
  destination,
  headersOnly = false,
}: ReturnType<typeof bucketRepublish>): NonNullable<StreamConfig['republish']> {
  return { src: source, dest: destination, headers_only: headersOnly };
}

/** A key-value bucket as the kv client expects it. */
function bucketSetting(spec: BucketSpec): StreamSetting {
  const { bucket, history, ttlMs, rebuilt } = spec;
  return {
    ...COMMON,
    name: `KV_${bucket}`,
    subjects: [`$KV.${bucket}.>`],
    discard: DiscardPolicy.New,
    max_msgs_per_subject: history,
    max_msg_size: -1,
    max_age: nanos(ttlMs ?? 0),
    duplicate_window: nanos(Math.min(ttlMs ?? DEDUPE_MS_MAX, DEDUPE_MS_MAX)),
    allow_rollup_hdrs: true,
    republish: republishSetting(bucketRepublish(spec)),
    ...(ttlMs === undefined ? {} : { allow_msg_ttl: true, subject_delete_marker_ttl: nanos(MARKER_TTL_MS) }),
    ...(rebuilt === true ? { persist_mode: PersistMode.Async } : {}),
  };
}

/** The object store as the obj client expects it. */
function objectStoreSetting(bucket: string): StreamSetting {
  return {
    ...COMMON,
    name: `OBJ_${bucket}`,
    subjects: [`$O.${bucket}.C.>`, `$O.${bucket}.M.>`],
    discard: DiscardPolicy.New,
    max_msgs_per_subject: -1,
    max_msg_size: -1,
    max_age: 0,
    duplicate_window: nanos(DEDUPE_MS_MAX),
    // Pieces of an object that was not finished are rolled up, and what that leaves behind expires.
    allow_rollup_hdrs: true,
    allow_msg_ttl: true,
  };
}

/**
 * A durable: explicit acks, no limit to deliveries, and none to what is in work at our services, whose back-pressure is what a replica
 * pulls.
 */
export function consumerSetting({
  durable,
  filters,
  ackWaitMs = ACK_WAIT_MS,
  isOutside,
}: DurableSpec): ConsumerSetting {
  const [only, ...more] = filters;
  return {
    durable_name: durable,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(ackWaitMs),
    deliver_policy: isOutside === true ? DeliverPolicy.New : DeliverPolicy.All,
    replay_policy: ReplayPolicy.Instant,
    max_deliver: -1,
    max_ack_pending: isOutside === true ? LIMITS.externalAckPendingMax : -1,
    ...(more.length === 0 && only !== undefined ? { filter_subject: only } : { filter_subjects: [...filters] }),
  };
}

/** Every stream that has to exist. */
export function allStreamSettings(): StreamSetting[] {
  return [
    ...Object.values(STREAMS).map((spec) => streamSetting(spec)),
    ...Object.values(BUCKETS).map((spec) => bucketSetting(spec)),
    objectStoreSetting(ARTIFACTS_BUCKET),
  ];
}

export interface Drift {
  readonly field: string;
  readonly wanted: unknown;
  readonly found: unknown;
}

/** What differs. The server leaves out false, zero and empty; it adds fields of its own, which are none of our business. */
export function driftOf(wanted: object, found: object): Drift[] {
  const foundFields: Record<string, unknown> = { ...found };
  return Object.entries(wanted).flatMap(([field, value]: [string, unknown]) =>
    same(value, foundFields[field]) ? [] : [{ field, wanted: value, found: foundFields[field] }],
  );
}

/** What the server adds to a durable by itself. */
const ADDED_TO_DURABLES = ['name', 'num_replicas', 'max_waiting', 'metadata'];

/** Until when a durable was held that goes on. */
const GOES_ON = new Date(0).toISOString().replace('.000', '');

/** What differs from the declaration of a durable: also what it does not speak of, because all that is there changes what comes. */
export function durableDrift(spec: DurableSpec, found: object): Drift[] {
  const wanted = consumerSetting(spec);
  const strange = Object.entries(found).flatMap(([field, value]: [string, unknown]): Drift[] =>
    field in wanted || ADDED_TO_DURABLES.includes(field) || isNothing(value) || value === GOES_ON
      ? []
      : [{ field, wanted: undefined, found: value }],
  );
  return [...driftOf(wanted, found), ...strange];
}

/** One clause for people. */
export function driftText(drift: readonly Drift[]): string {
  return drift.map(({ field, wanted, found }) => `${field} is ${jsonText(found)}, not ${jsonText(wanted)}`).join('; ');
}

function jsonText(value: unknown): string {
  return value === undefined ? 'absent' : JSON.stringify(value);
}

function same(wanted: unknown, found: unknown): boolean {
  if (found === undefined || found === null) return isNothing(wanted);
  if (typeof wanted === 'object' && wanted !== null && typeof found === 'object') {
    if (Array.isArray(wanted)) return JSON.stringify(wanted) === JSON.stringify(found);
    return driftOf(wanted, found).length === 0;
  }
  return wanted === found;
}

function isNothing(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return value === undefined || value === false || value === 0 || value === '' || value === PersistMode.Default;
}

function nanos(ms: number): number {
  return ms * NANOS_PER_MS;
}
