import { z } from 'zod';
import { Actor } from './actors.js';
import { commitShape, type EventOf, recordedEvent, recordedEvents } from './commit.js';
import { DeviceId, Instant, RunId, TaskId } from './ids.js';
import { LIMITS } from './limits.js';

/** The id of an entry: a fixed hash of what it is about, so that the same fact is the same entry for ever. */
export const AttentionId = z
  .string()
  .regex(/^[0-9a-hjkmnp-tv-z]{12}$/u, 'must be the id of an entry: 12 characters of 0-9 and a-z');
export type AttentionId = z.infer<typeof AttentionId>;

/**
 * Why somebody should look. `failed`, `partial`: a run ended so. `unknown`: nobody can say whether a command was executed. `approval`: a
 * person is waited for. `no-device`: no connected device can take a task. `dead-letter`: a message that no service could handle.
 * `mismatch`: a command did what its judgement did not say. `drift`: a consumer is not as it was declared. `flapping`: a device comes and
 * goes. `disk`: there is little room left.
 */
export const AttentionKind = z.enum([
  'failed',
  'partial',
  'unknown',
  'approval',
  'no-device',
  'dead-letter',
  'mismatch',
  'drift',
  'flapping',
  'disk',
]);
export type AttentionKind = z.infer<typeof AttentionKind>;

/** What an entry is about. `key` is what its id is the hash of. */
const aboutShape = {
  kind: AttentionKind,
  key: z.string().min(1).max(LIMITS.attentionKeyCharsMax),
  runId: RunId.optional(),
  taskId: TaskId.optional(),
  deviceId: DeviceId.optional(),
} as const;

export const AttentionAbout = z.strictObject(aboutShape);
export type AttentionAbout = z.infer<typeof AttentionAbout>;

/** Why it is settled, in the words of who settled it. */
export const SettleReason = z.string().min(1).max(1_000);

const SCHEMAS = {
  /** Somebody takes it on: from whoever had it before. */
  ATTENTION_TAKEN: z.strictObject({ about: AttentionAbout, by: Actor, at: Instant }),
  /** Nobody has to look at it any more, for good: what happens anew is another entry. */
  ATTENTION_SETTLED: z.strictObject({ about: AttentionAbout, by: Actor, at: Instant, reason: SettleReason }),
} as const;

export type AttentionEventType = keyof typeof SCHEMAS;
export const ATTENTION_EVENT_TYPES = Object.keys(SCHEMAS) as AttentionEventType[];

export const RecordedAttentionEvent = recordedEvent(SCHEMAS);
export type RecordedAttentionEvent = z.infer<typeof RecordedAttentionEvent>;

export type AttentionEvent = EventOf<typeof SCHEMAS>;

/** One message of `orrery.attention.<attentionId>`. */
export const AttentionCommit = z.strictObject({
  ...commitShape,
  attentionId: AttentionId,
  events: recordedEvents(RecordedAttentionEvent),
});
export type AttentionCommit = z.infer<typeof AttentionCommit>;

/** One thing that needs somebody, as it is shown. */
export const AttentionEntry = z.strictObject({
  id: AttentionId,
  ...aboutShape,
  /** What has happened, in one sentence; parts of it may come from devices and models. */
  what: z.string().min(1).max(LIMITS.attentionCharsMax),
  /** What to type to look at it, or to end it. */
  next: z.string().min(1).max(LIMITS.attentionCharsMax),
  since: Instant,
  state: z.enum(['open', 'taken', 'settled']),
  /** Who took it on or settled it last, and when. */
  by: Actor.nullable(),
  at: Instant.nullable(),
  reason: z.string().nullable(),
});
export type AttentionEntry = z.infer<typeof AttentionEntry>;

/** What became of taking an entry on, or settling it: the same answer whenever the same command is sent again. */
export const AttentionWord = z.strictObject({
  attentionId: AttentionId,
  state: z.enum(['taken', 'settled']),
  by: Actor,
  at: Instant,
  /** False when it was settled already. */
  changed: z.boolean(),
  /** From whom it was taken over. */
  from: Actor.optional(),
});
export type AttentionWord = z.infer<typeof AttentionWord>;

/** A source that could not be read: that nothing is told of it does not mean that there is nothing. */
export const UnseenSource = z.strictObject({ source: z.string().max(64), reason: z.string().max(1_000) });
export type UnseenSource = z.infer<typeof UnseenSource>;
