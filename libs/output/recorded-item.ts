import { z } from 'zod';
import { CommandCall, CommandId, CommandState, DeviceId, Instant, ResultFile, TaskId } from '#proto';

const RecordedStream = z.enum(['stdout', 'stderr', 'result', 'answer']);

const place = {
  taskId: TaskId,
  attempt: z.int().min(1),
  /** Null: the answer of an agent, which is no command. */
  commandId: CommandId.nullable(),
} as const;

/** One item of what a run has written, as it is recorded: a command, then what it wrote; and what is to be said about it. */
export const RecordedItem = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('command'),
    ...place,
    step: z.int().min(0).nullable(),
    index: z.int().min(0).nullable(),
    deviceId: DeviceId.nullable(),
    call: CommandCall.nullable(),
    state: CommandState.nullable(),
    exitCode: z.int().nullable(),
    startedAt: Instant.nullable(),
    durationMs: z.number().nullable(),
    streams: z.array(
      z.strictObject({
        stream: RecordedStream,
        /** That were written; null where nobody has counted them. */
        bytes: z.int().min(0).nullable(),
        kept: z.enum(['whole', 'part']),
        /** Of a part: why there is not more. */
        why: z.string().nullable(),
      }),
    ),
  }),
  /** A piece of one stream, in order. */
  z.strictObject({
    type: z.literal('output'),
    ...place,
    deviceId: DeviceId.nullable(),
    stream: RecordedStream,
    /** Bytes of that stream before this piece, of those that are kept. */
    offset: z.int().min(0),
    text: z.string(),
  }),
  /** With a pattern, in place of pieces: a line that matches, or one near to it. */
  z.strictObject({
    type: z.literal('line'),
    ...place,
    stream: RecordedStream,
    /** From 1. */
    line: z.int().min(1),
    match: z.boolean(),
    text: z.string(),
  }),
  /** A file that a tool answered with: it is fetched by its name. */
  z.strictObject({ type: z.literal('file'), ...place, file: ResultFile }),
  /** What there is to say: of what is not kept, of who wrote nothing, of what cannot be known. */
  z.strictObject({ type: z.literal('note'), text: z.string() }),
]);
export type RecordedItem = z.infer<typeof RecordedItem>;
