import { AIP_LIMITS, LIMITS, pathOf, type CommandOutcome, type Json } from '#proto';

/** A frame has an envelope around the outcome, and a failed command its message beside it. */
export const OUTCOME_BYTES_MAX = AIP_LIMITS.frameBytesMax - 32 * 1024;
/** Of the depth that a frame may have, the rest is its envelope. */
const RESULT_DEPTH_MAX = AIP_LIMITS.jsonDepthMax - 8;
/** Of the objects, arrays and keys, too. */
const RESULT_VALUES_MAX = AIP_LIMITS.jsonValuesMax - 1_000;
const STRING_CHARS_MIN = 64;

/** The outcome as it can be sent; what had to be cut is named. */
export function fitOutcome(outcome: CommandOutcome): CommandOutcome {
  const { value, cut } = fitted(outcome.result, OUTCOME_BYTES_MAX - bytesOf({ ...outcome, result: null }));
  return { ...outcome, result: value, ...(cut.length > 0 && { incomplete: named(cut) }) };
}

interface Fitted {
  readonly value: Json;
  /** Paths of strings that were cut; the empty one when the text of the whole was. */
  readonly cut: readonly string[];
}

/** A result as it can be sent: too long strings keep head and tail, what is nested too deeply becomes its JSON text. */
export const fitJson = (value: Json, bytesMax: number): Json => fitted(value, bytesMax).value;

function fitted(value: Json, bytesMax: number): Fitted {
  const shallow = flatten(value, RESULT_DEPTH_MAX);
  const tooMany = valuesOf(shallow) > RESULT_VALUES_MAX;
  if (!tooMany && bytesOf(shallow) <= bytesMax) return { value: shallow, cut: [] };
  for (let charsMax = tooMany ? 0 : bytesMax; charsMax >= STRING_CHARS_MIN; charsMax = Math.floor(charsMax / 2)) {
    const paths: string[] = [];
    const cut = cutStrings(shallow, { charsMax, at: [], paths });
    if (bytesOf(cut) <= bytesMax) return { value: cut, cut: paths };
  }
  // Not long strings but too many values: the text of the whole is cut instead.
  return { value: cutText(JSON.stringify(shallow), Math.floor(bytesMax / 8)), cut: [''] };
}

const NAMES_CHARS_MAX = 4_000;

/** Of more than can be named nobody can say any more which is whole. */
const named = (cut: readonly string[]): string[] =>
  cut.length > LIMITS.incompletePathsMax || cut.join('').length > NAMES_CHARS_MAX ? [''] : [...cut];

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

interface Cutting {
  readonly charsMax: number;
  readonly at: readonly PropertyKey[];
  readonly paths: string[];
}

function cutStrings(value: Json, cutting: Cutting): Json {
  const { charsMax, at, paths } = cutting;
  if (typeof value === 'string') {
    if (value.length > charsMax) paths.push(pathOf(at));
    return cutText(value, charsMax);
  }
  if (value === null || typeof value !== 'object') return value;
  return mapValues(value, (item, key) => cutStrings(item, { ...cutting, at: [...at, key] }));
}

type Map = (item: Json, key: string | number) => Json;

function mapValues(value: Json[] | { [key: string]: Json }, map: Map): Json {
  if (Array.isArray(value)) return value.map(map);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, map(item, key)]));
}

function cutText(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const half = Math.floor(charsMax / 2);
  const [head, tail] = [text.slice(0, half), text.slice(-half)];
  return `${head.toWellFormed()}\n[... ${text.length - 2 * half} characters omitted ...]\n${tail.toWellFormed()}`;
}
