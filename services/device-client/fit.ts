import { AIP_LIMITS, type CommandOutcome, type Json } from '#proto';

/** A frame has an envelope around the outcome, and a failed command its message beside it. */
export const OUTCOME_BYTES_MAX = AIP_LIMITS.frameBytesMax - 32 * 1024;
/** Of the depth that a frame may have, the rest is its envelope. */
const RESULT_DEPTH_MAX = AIP_LIMITS.jsonDepthMax - 8;
/** Of the objects, arrays and keys, too. */
const RESULT_VALUES_MAX = AIP_LIMITS.jsonValuesMax - 1_000;
const STRING_CHARS_MIN = 64;

/** The outcome as it can be sent. */
export const fitOutcome = (outcome: CommandOutcome): CommandOutcome => ({
  ...outcome,
  result: fitJson(outcome.result, OUTCOME_BYTES_MAX - bytesOf({ ...outcome, result: null })),
});

/** A result as it can be sent: too long strings keep head and tail, what is nested too deeply becomes its JSON text. */
export function fitJson(value: Json, bytesMax: number): Json {
  const shallow = flatten(value, RESULT_DEPTH_MAX);
  const tooMany = valuesOf(shallow) > RESULT_VALUES_MAX;
  if (!tooMany && bytesOf(shallow) <= bytesMax) return shallow;
  for (let charsMax = tooMany ? 0 : bytesMax; charsMax >= STRING_CHARS_MIN; charsMax = Math.floor(charsMax / 2)) {
    const cut = cutStrings(shallow, charsMax);
    if (bytesOf(cut) <= bytesMax) return cut;
  }
  // Not long strings but too many values: the text of the whole is cut instead.
  return cutText(JSON.stringify(shallow), Math.floor(bytesMax / 8));
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** Objects, arrays and keys, as a server counts them. */
export function valuesOf(value: Json): number {
  if (value === null || typeof value !== 'object') return 0;
  const keys = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values<Json>(value).reduce<number>((sum, item) => sum + valuesOf(item), 1 + keys);
}

function flatten(value: Json, depthLeft: number): Json {
  if (value === null || typeof value !== 'object') return value;
  if (depthLeft <= 0) return JSON.stringify(value);
  return mapValues(value, (item) => flatten(item, depthLeft - 1));
}

function cutStrings(value: Json, charsMax: number): Json {
  if (typeof value === 'string') return cutText(value, charsMax);
  return value === null || typeof value !== 'object' ? value : mapValues(value, (item) => cutStrings(item, charsMax));
}

function mapValues(value: Json[] | { [key: string]: Json }, map: (item: Json) => Json): Json {
  if (Array.isArray(value)) return value.map(map);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, map(item)]));
}

function cutText(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const half = Math.floor(charsMax / 2);
  const [head, tail] = [text.slice(0, half), text.slice(-half)];
  return `${head.toWellFormed()}\n[... ${text.length - 2 * half} characters omitted ...]\n${tail.toWellFormed()}`;
}
