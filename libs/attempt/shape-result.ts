import { LIMITS, pathOf, type Json } from '#proto';

/** Lengths to which strings are cut in turn, until the value fits; the first leaves room for one long string and its neighbours. */
const STRING_CHARS = [15_000, 7_500, 3_750, 1_875, 900, 450, 200] as const;
/** Of a value that is long without any long string: how much of its JSON text is shown. */
const TEXT_CHARS = 4_000;

export interface ShapedResult {
  /** At most `LIMITS.resultBytesMax` bytes as JSON. */
  readonly value: Json;
  /** What has to be stored as an artifact before the event names it, as JSON; null when `value` is the whole. */
  readonly cutFrom: { readonly json: Uint8Array; readonly paths: readonly string[] } | null;
}

const encoder = new TextEncoder();

/** The beginning of a text. Of JSON with lone surrogates nobody could make a hash: they are repaired before anything is recorded. */
export const clip = (text: string, chars: number): string => text.slice(0, chars).toWellFormed();

/** What an event may hold of a tool's answer. Strings that no canonical JSON could carry (lone surrogates) are repaired first. */
export function shapeResult(answer: Json): ShapedResult {
  const whole = repairedJson(answer);
  const json = encode(whole);
  if (json.length <= LIMITS.resultBytesMax) return { value: whole, cutFrom: null };
  for (const chars of STRING_CHARS) {
    const paths: string[] = [];
    const value = cutStrings(whole, { chars, path: [], paths });
    if (encode(value).length <= LIMITS.resultBytesMax) return { value, cutFrom: { json, paths } };
  }
  const text = new TextDecoder().decode(json);
  return { value: headAndTail(text, TEXT_CHARS), cutFrom: { json, paths: [''] } };
}

interface Cut {
  readonly chars: number;
  readonly path: readonly PropertyKey[];
  readonly paths: string[];
}

function cutStrings(value: Json, cut: Cut): Json {
  if (typeof value === 'string') {
    if (value.length <= cut.chars) return value;
    cut.paths.push(pathOf(cut.path));
    return headAndTail(value, cut.chars);
  }
  if (Array.isArray(value)) return value.map((item, index) => cutStrings(item, { ...cut, path: [...cut.path, index] }));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, cutStrings(item, { ...cut, path: [...cut.path, key] })]),
  );
}

function headAndTail(text: string, chars: number): string {
  const half = Math.floor(chars / 2);
  const head = text.slice(0, half);
  const tail = text.slice(text.length - half);
  return `${wellFormed(head)}\n[... ${text.length - 2 * half} characters cut ...]\n${wellFormed(tail)}`;
}

/** A cut may part a surrogate pair; its halves are dropped rather than shown as something that was never there. */
function wellFormed(text: string): string {
  return text.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/gu, '');
}

function encode(value: Json): Uint8Array {
  return encoder.encode(JSON.stringify(value));
}

/** `JSON.stringify` writes lone surrogates, and only those, as escapes. */
const LONE_SURROGATE = /\\ud[89a-f][0-9a-f]{2}/u;

/** Strings without a canonical form (lone surrogates) repaired; nearly always the value as it is. */
export function repairedJson(value: Json): Json {
  return LONE_SURROGATE.test(JSON.stringify(value)) ? repaired(value) : value;
}

function repaired(value: Json): Json {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(repaired);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), repaired(item)]));
}
