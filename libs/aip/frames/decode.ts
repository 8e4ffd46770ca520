import { AIP_LIMITS, ClientMessage, parseWith, sentenceOf, ServerMessage, type Json } from '#proto';
import type { z } from 'zod';
import { splitPiece } from './binary-piece.js';

export type Decoded<M> = { readonly ok: true; readonly message: M } | { readonly ok: false; readonly error: string };

/** A frame from a device. Whatever the bytes are, the answer is a message or a sentence, never an exception. `bytes`: of a binary frame. */
export const decodeClientMessage = (text: string | null, bytes?: Uint8Array): Decoded<ClientMessage> =>
  text === null ? decodePiece(ClientMessage, bytes) : decode(ClientMessage, text);

/** A frame from a device server. */
export const decodeServerMessage = (text: string | null, bytes?: Uint8Array): Decoded<ServerMessage> =>
  text === null ? decodePiece(ServerMessage, bytes) : decode(ServerMessage, text);

const NO_PIECE = { ok: false, error: 'AIP is text frames only, but for pieces of files' } as const;

/** Its data is taken as it is: only the head is parsed and checked. */
function decodePiece<M extends ClientMessage | ServerMessage>(
  schema: z.ZodType<M>,
  bytes: Uint8Array | undefined,
): Decoded<M> {
  const parts = bytes && splitPiece(bytes);
  if (parts === undefined) return NO_PIECE;
  const decoded = decode(schema, parts.head);
  if (!decoded.ok) return decoded;
  const { message } = decoded;
  if (message.type !== 'file_chunk' || message.orrery.data !== '') return NO_PIECE;
  return { ok: true, message: { ...message, orrery: { ...message.orrery, data: parts.data } } };
}

function decode<M>(schema: z.ZodType<M>, text: string): Decoded<M> {
  // Before parsing: schema checks and hashes recurse, and take their time with every value.
  const tooMuch = tooMuchOf(text);
  if (tooMuch !== undefined) return { ok: false, error: tooMuch };
  const json = parseJson(text);
  if (json === undefined) return { ok: false, error: 'not JSON' };
  const parsed = parseWith(schema, json);
  if (parsed.ok) return { ok: true, message: parsed.value };
  return { ok: false, error: parsed.issues.map(sentenceOf).join('; ').slice(0, ERROR_CHARS_MAX) };
}

const ERROR_CHARS_MAX = 500;

function parseJson(text: string): Json | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return LONE_SURROGATE_POSSIBLE.test(text) ? wellFormed(value) : value;
  } catch {
    return undefined;
  }
}

/** A text frame is valid UTF-8, so half a character can only come as an escape. */
const LONE_SURROGATE_POSSIBLE = /\\u[dD][89a-fA-F]/u;

/** Half a character cannot be hashed or stored: it becomes U+FFFD. */
function wellFormed(value: Json): Json {
  if (typeof value === 'string') return value.isWellFormed() ? value : value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormed(item)]));
}

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

interface ShapeLimits {
  readonly jsonDepthMax: number;
  readonly jsonValuesMax: number;
}

/** Counts brackets and keys outside of strings, so that the text need not be parsed to know what there is too much of. */
export function tooMuchOf(text: string, { jsonDepthMax, jsonValuesMax }: ShapeLimits = AIP_LIMITS): string | undefined {
  if (text.length <= jsonDepthMax) return undefined;
  let [depth, values] = [0, 0];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = endOfString(text, index);
    else if (CLOSING.has(code)) depth--;
    else if (code === COLON) values++;
    else if (OPENING.has(code)) {
      values++;
      if (++depth > jsonDepthMax) return `nested deeper than ${jsonDepthMax} levels`;
    }
    if (values > jsonValuesMax) return `more than ${jsonValuesMax} objects, arrays and keys`;
  }
  return undefined;
}

/** Where the string that begins at `start` ends. A piece of a file is one of hundreds of thousands of characters: no loop of ours looks at each. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end;
    while (text.charCodeAt(before - 1) === BACKSLASH) before--;
    if ((end - before) % 2 === 0) return end;
  }
  return text.length;
}
