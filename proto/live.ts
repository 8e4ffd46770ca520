import { z } from 'zod';
import { AgentProfile } from './agent-profile.js';
import { AttentionEntry, UnseenSource } from './attention.js';
import { OutputChunk } from './commands.js';
import { CommandId, DeviceId, Instant, RunId, TaskId } from './ids.js';
import { RunSummary } from './view.js';

/** Bounds of the live stream of the console. */
export const LIVE_LIMITS = {
  /** Things one socket follows at a time; their numbers are smaller than that of them that fit into 31 bits. */
  channelsMax: 64,
  channelMax: 2 ** 31 - 1,
  /** A word of a client. */
  wordBytesMax: 64 * 1024,
  /** Places from which outputs go on, that one word names. */
  cursorsMax: 500,
  /** Rows of a list. */
  rowsMax: 1_000,
} as const;

const channel = z.int().min(0).max(LIVE_LIMITS.channelMax);
/** Position in the stream, of the last commit that is known already. */
const after = z.int().min(0).optional();

/** How far what a command writes is known already. */
export const OutputCursor = z.strictObject({
  command: CommandId,
  stream: OutputChunk.shape.stream,
  /** Bytes of the stream before which everything is known, e.g. the offset of the last piece that was taken. */
  offset: z.int().min(0),
  /** And so many characters (UTF-16) behind them, e.g. the length of its text; bytes that are no text have none of their own. */
  chars: z.int().min(0).optional(),
});
export type OutputCursor = z.infer<typeof OutputCursor>;

/** What somebody follows. */
export const LiveTopic = z.discriminatedUnion('kind', [
  /** The commits of a run. */
  z.strictObject({ kind: z.literal('run'), run: RunId, after }),
  /** The commits of its attempts: what agents thought, what was judged, issued and finished. */
  z.strictObject({ kind: z.literal('attempts'), run: RunId, after }),
  /** The commits of its planner: observations, thoughts, proposals. */
  z.strictObject({ kind: z.literal('plans'), run: RunId, after }),
  /** What the commands of one attempt write: from the beginning, also when it is over, but for what `after` names. */
  z.strictObject({
    kind: z.literal('output'),
    run: RunId,
    task: TaskId,
    attempt: z.int().min(1),
    /** Of this command only. */
    command: CommandId.optional(),
    after: z.array(OutputCursor).max(LIVE_LIMITS.cursorsMax).optional(),
  }),
  /** The newest runs. */
  z.strictObject({ kind: z.literal('runs') }),
  /** Devices, and what they work on. */
  z.strictObject({ kind: z.literal('fleet') }),
  /** What needs somebody. */
  z.strictObject({ kind: z.literal('attention') }),
]);
export type LiveTopic = z.infer<typeof LiveTopic>;

/** What a client says on `/v1/live`. A channel is a number that it chooses; it is free again when it has ended or was closed. */
export const LiveWord = z.discriminatedUnion('op', [
  z.strictObject({ op: z.literal('open'), channel, topic: LiveTopic }),
  z.strictObject({ op: z.literal('close'), channel }),
]);
export type LiveWord = z.infer<typeof LiveWord>;

/** What a device works on now. */
export const DeviceAtWork = z.strictObject({
  deviceId: DeviceId,
  runId: RunId,
  taskId: TaskId,
  name: z.string(),
  startedAt: Instant.nullable(),
});
export type DeviceAtWork = z.infer<typeof DeviceAtWork>;

/** Why a channel ended without its end. */
export const LiveErrorCode = z.enum([
  /** The word is none of these; `channel` is null where it names none. */
  'INVALID',
  /** None of the caller's roles may see it. */
  'FORBIDDEN',
  'NOT_FOUND',
  /** As many channels are open as fit. */
  'TOO_MANY',
  /** A channel of this number is open. */
  'IN_USE',
  /** It cannot be served now: open it again. */
  'UNAVAILABLE',
]);
export type LiveErrorCode = z.infer<typeof LiveErrorCode>;

export const said = <K extends string, S extends z.ZodRawShape>(kind: K, shape: S) =>
  z.strictObject({ channel, kind: z.literal(kind), ...shape });

/**
 * Of a list `rows` is all of it, and comes again when that is shorter than what changed; then `row` is new or changed, and `gone` is
 * not in the list any more.
 */
export const ofLists = [
  said('rows', {
    list: z.discriminatedUnion('of', [
      z.strictObject({ of: z.literal('runs'), rows: z.array(RunSummary).max(LIVE_LIMITS.rowsMax) }),
      z.strictObject({ of: z.literal('fleet'), rows: z.array(AgentProfile) }),
      z.strictObject({ of: z.literal('attention'), rows: z.array(AttentionEntry).max(LIVE_LIMITS.rowsMax) }),
    ]),
    /** There are older ones. */
    more: z.literal(true).optional(),
  }),
  said('row', {
    item: z.discriminatedUnion('of', [
      z.strictObject({ of: z.literal('runs'), row: RunSummary }),
      z.strictObject({ of: z.literal('fleet'), row: AgentProfile }),
      z.strictObject({ of: z.literal('attention'), row: AttentionEntry }),
    ]),
  }),
  /** By the id of the run, device or entry. */
  said('gone', { id: z.string().min(1).max(256) }),
  /** Of topic `fleet`: all of it. */
  said('work', { tasks: z.array(DeviceAtWork) }),
  /** Of topic `attention`: of all entries that are not settled, and which sources cannot be seen now. */
  said('counts', { open: z.int().min(0), taken: z.int().min(0), unseen: z.array(UnseenSource) }),
] as const;

export const ofAnyTopic = [
  /** All that was there has been said: what comes now comes as it happens. */
  said('live', {}),
  /** What is shown may be old: the bus, or who keeps the list, is away. `live` says that it is over. */
  said('stale', { reason: z.string().max(500) }),
  /** The channel is over. */
  z.strictObject({
    channel: channel.nullable(),
    kind: z.literal('error'),
    code: LiveErrorCode,
    message: z.string().max(2_000),
  }),
  /** There is no more, and never will be. */
  said('end', {}),
] as const;

/** What the console says on `/v1/live` of the topics `runs`, `fleet` and `attention`. */
export const ListMessage = z.discriminatedUnion('kind', [...ofLists, ...ofAnyTopic]);

/** Why the console closes a socket (RFC 6455, 7.4: 4000 to 4999 are for applications). */
export const LIVE_CLOSE = {
  /** The console stops, or is started again: come back with the cursors. */
  goingAway: 1001,
  /** A word was too long (RFC 6455). */
  tooBig: 1009,
  /** Words that are none, again and again. */
  invalid: 4400,
  /** The session is over, or roles have changed: who comes back has to log in, or is somebody else now. */
  revoked: 4401,
  /** More waited for this client than is kept: come back with the cursors. */
  slow: 4408,
} as const;
