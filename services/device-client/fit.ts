import { AIP_LIMITS, type CommandOutcome, type Json } from '#proto';

/** A frame has an envelope around the outcome, and a failed command its message beside it. */
const OUTCOME_BYTES_MAX = AIP_LIMITS.frameBytesMax - 32 * 1024;
/** Of the depth that a frame may have, the rest is its envelope. */
const RESULT_DEPTH_MAX = AIP_LIMITS.jsonDepthMax - 8;
const STRING_CHARS_MIN = 64;

/** The outcome as it can be sent: too long strings keep head and tail, what is nested too deeply becomes its JSON text. */
export function fitOutcome(outcome: CommandOutcome): CommandOutcome {
  const shallow = { ...outcome, result: flatten(outcome.result, RESULT_DEPTH_MAX) };
  if (fits(shallow)) return shallow;
  for (let charsMax = OUTCOME_BYTES_MAX; charsMax >= STRING_CHARS_MIN; charsMax = Math.floor(charsMax / 2)) {
    const cut = { ...shallow, result: cutStrings(shallow.result, charsMax) };
    if (fits(cut)) return cut;
  }
  // Not long strings but too many values: the text of the whole is cut instead.
  return { ...shallow, result: cutText(JSON.stringify(shallow.result), Math.floor(OUTCOME_BYTES_MAX / 8)) };
}

const fits = (outcome: CommandOutcome): boolean => Buffer.byteLength(JSON.stringify(outcome)) <= OUTCOME_BYTES_MAX;

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
