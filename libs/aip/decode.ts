import { AIP_LIMITS, ClientMessage, parseWith, sentenceOf, ServerMessage } from '#proto';
import type { Json } from '#proto';
import type { z } from 'zod';

export type Decoded<M> = { readonly ok: true; readonly message: M } | { readonly ok: false; readonly error: string };

/** A frame from a device. Whatever the bytes are, the answer is a message or a sentence, never an exception. */
export const decodeClientMessage = (text: string | null): Decoded<ClientMessage> => decode(ClientMessage, text);

/** A frame from a device server. */
export const decodeServerMessage = (text: string | null): Decoded<ServerMessage> => decode(ServerMessage, text);

function decode<M>(schema: z.ZodType<M>, text: string | null): Decoded<M> {
  if (text === null) return { ok: false, error: 'AIP is text frames only' };
  // Before parsing: schema checks and hashes recurse, and a stack is not a limit with a name.
  if (nestsDeeperThan(text, AIP_LIMITS.jsonDepthMax)) {
    return { ok: false, error: `nested deeper than ${AIP_LIMITS.jsonDepthMax} levels` };
  }
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

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

/** Counts brackets outside of strings, so that the text need not be parsed to know. */
export function nestsDeeperThan(text: string, depthMax: number): boolean {
  if (text.length <= depthMax) return false;
  let depth = 0;
  let inString = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (inString) {
      if (code === BACKSLASH) index++;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) inString = true;
    else if (OPENING.has(code) && ++depth > depthMax) return true;
    else if (CLOSING.has(code)) depth--;
  }
  return false;
}
