import { z } from 'zod';
import { Json } from '../ids.js';

/**
 * AIP (paper section 7, appendix B): one JSON object per WebSocket text frame, but for pieces of files between ends that both take them
 * as binary ones. Names and values are those of UFO's own
 * clients, which send every optional field as null and ignore what they do not know. `orrery` carries our revision on top,
 * offered by the device in REGISTER and used only when it did:
 *
 *   none  foreign clients: the nine messages of the paper
 *   1     command ids, outcomes, the device's journal, STOP of an attempt
 *   2     numbered and acknowledged frames, RESUME, live output, files, renewed credentials
 */
export const AIP_REVISION = 2;

export const optional = <T extends z.ZodType>(schema: T) => schema.nullish();

/** Status of a message, not of the work: a failed command is reported in its result. */
export const AipStatus = z.enum(['continue', 'completed', 'failed', 'ok', 'error']);

/** Who stands at the client's end of a connection; proven by its credential, whatever its frames say. */
export const ClientRole = z.enum(['device', 'constellation']);
export type ClientRole = z.infer<typeof ClientRole>;

/**
 * Revision 2: every frame after the confirmation of REGISTER has a number, 1 and up, and may acknowledge: `ack` is the
 * number of the last frame of the other side that was taken, with all before it.
 */
export const numbered = {
  seq: optional(z.int().min(1)),
  ack: optional(z.int().min(0)),
};

export const ActionResult = z.object({
  status: z.enum(['success', 'failure', 'skipped', 'none']),
  error: optional(z.string()),
  result: optional(Json),
  namespace: optional(z.string()),
  call_id: optional(z.string().max(256)),
});
export type ActionResult = z.infer<typeof ActionResult>;

export const Action = z.object({
  tool_name: z.string(),
  parameters: optional(z.record(z.string(), Json)),
  tool_type: z.enum(['action', 'data_collection']),
  call_id: optional(z.string()),
});
export type Action = z.infer<typeof Action>;

/** Names one transfer on its connection. */
export const TransferId = z.string().regex(/^[A-Za-z0-9_.-]{1,128}$/, 'a transfer id must be 1 to 128 safe characters');
export type TransferId = z.infer<typeof TransferId>;

/** Base64 in a text frame, which is all that JSON has; the bytes themselves within a process, and beside a binary frame's head. */
export type PieceData = string | Uint8Array;

/** A piece of a file, `offset` bytes from its beginning. */
export const FilePiece = z.object({
  transfer_id: TransferId,
  offset: z.int().min(0),
  data: z.base64() as unknown as z.ZodType<PieceData>,
});
export type FilePiece = z.infer<typeof FilePiece>;

/** Why a transfer ended without its file. */
export const FileAbort = z.object({
  transfer_id: TransferId,
  code: z.string().max(64),
  message: z.string().max(1_000),
});
export type FileAbort = z.infer<typeof FileAbort>;

type Shapes = Readonly<Record<string, z.ZodRawShape>>;
type FramesOf<B extends z.ZodRawShape, S extends Shapes> = {
  [T in keyof S & string]: z.ZodObject<{ type: z.ZodLiteral<T> } & B & S[T], z.core.$strip>;
}[keyof S & string];

/** The union of a table of frames: each has its `type`, what all of its side have, and what is its own. Unknown fields are dropped. */
export function frames<B extends z.ZodRawShape, S extends Shapes>(base: B, own: S) {
  const all = Object.entries(own).map(([type, shape]) => z.object({ type: z.literal(type), ...base, ...shape }));
  return z.discriminatedUnion('type', all as unknown as [FramesOf<B, S>, ...FramesOf<B, S>[]]);
}

/** The frame of a type, out of all of one side. */
export type FrameOf<M extends { readonly type: string }, T extends M['type']> = Extract<M, { type: T }>;
