import { ArtifactRef, pathOf, fieldsOf, type Json, type TaskResult } from '#proto';

/** An agent made it: what it finished with, not what a tool answered. */
export const AGENT = 'agent';

/** Who made a result: an agent, or a tool; null when nobody did. */
export type MadeBy = typeof AGENT | { readonly tool: string } | null;

/** Where in a result the text lies that others read of it. */
export type TextPlace =
  /** The value there: a text as it is, anything else as JSON. */
  | { readonly kind: 'at'; readonly path: readonly string[] }
  /** Contents of MCP that are texts, one after the other. */
  | { readonly kind: 'contents' }
  /** There is no text in it: the whole as one line of JSON. */
  | { readonly kind: 'json' };

/** A text, or the bytes of one that lies in ARTIFACTS by itself; or why nobody has the whole. */
export type WholeText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'artifact'; readonly artifact: ArtifactRef }
  /** `bytes`: of the whole, where somebody has counted them. */
  | { readonly kind: 'missing'; readonly bytes: number | null; readonly why: string };

/**
 * Where the text of a result is, by its shape: a field that is asked for, a text, the standard output of a command whoever
 * ran it, texts of MCP. The strings of `value` may be cut.
 */
export function placeOfText(value: Json, madeBy: MadeBy, field: string | undefined): TextPlace {
  if (field !== undefined) return { kind: 'at', path: field.split('.') };
  if (typeof value === 'string') return { kind: 'at', path: [] };
  if (Array.isArray(value)) return value.length > 0 && value.every(isTextContent) ? { kind: 'contents' } : JSON_LINE;
  const hasOutput =
    madeBy !== AGENT && value !== null && typeof value === 'object' && typeof value['stdout'] === 'string';
  return hasOutput ? { kind: 'at', path: ['stdout'] } : JSON_LINE;
}

/**
 * An output of a command that its device has stored as bytes; undefined when the text itself has to say it. `value` may be cut:
 * references never are.
 */
export function storedOutput(value: Json, place: TextPlace): WholeText | undefined {
  const [stream, ...deeper] = place.kind === 'at' ? place.path : [];
  if ((stream !== 'stdout' && stream !== 'stderr') || deeper.length > 0) return undefined;
  const { artifact, bytes, error } = outputFacts(value, stream);
  if (artifact === undefined) return undefined;
  if (bytes === null || artifact.bytes === bytes) return { kind: 'artifact', artifact };
  return { kind: 'missing', bytes, why: `its device has kept ${artifact.bytes} bytes of it${error}` };
}

/** The text at a place of a whole value. */
export function wholeTextAt(
  whole: Json,
  place: TextPlace,
  { incomplete = [] }: Pick<TaskResult, 'incomplete'>,
): WholeText {
  const cut = incomplete.find((path) => touches(path, place));
  if (cut !== undefined)
    return { kind: 'missing', bytes: null, why: 'its device could not send the whole and has cut it' };
  if (place.kind === 'json') return { kind: 'text', text: `${JSON.stringify(whole)}\n` };
  if (place.kind === 'contents')
    return { kind: 'text', text: (whole as { text: string }[]).map(({ text }) => text).join('\n') };
  const found = valueAt(whole, place.path);
  if (found === undefined)
    return { kind: 'missing', bytes: null, why: `its result has no field ${place.path.join('.')}` };
  if (typeof found !== 'string') return { kind: 'text', text: `${JSON.stringify(found)}\n` };
  const [stream, ...deeper] = place.path;
  if ((stream !== 'stdout' && stream !== 'stderr') || deeper.length > 0) return { kind: 'text', text: found };
  return countedText(found, outputFacts(whole, stream));
}

/** A text of another length than the command wrote is not what it wrote. */
function countedText(text: string, { bytes, error }: OutputFacts): WholeText {
  const kept = Buffer.byteLength(text);
  if (bytes === null || bytes === kept) return { kind: 'text', text };
  const why =
    bytes > kept ? `its device has kept a part of it${error}` : `it is no UTF-8 and not kept as bytes${error}`;
  return { kind: 'missing', bytes, why };
}

const JSON_LINE: TextPlace = { kind: 'json' };

function isTextContent(value: Json): boolean {
  const { type, text } = fieldsOf(value);
  return type === 'text' && typeof text === 'string';
}

interface OutputFacts {
  readonly artifact: ArtifactRef | undefined;
  /** What the command wrote, as its device has counted it. */
  readonly bytes: number | null;
  /** Why not all of it is stored, to be put behind a sentence. */
  readonly error: string;
}

function outputFacts(value: Json, stream: 'stdout' | 'stderr'): OutputFacts {
  const result = fieldsOf(value);
  const { [`${stream}_artifact`]: artifact, [`${stream}_bytes`]: bytes, artifact_error: error } = result;
  return {
    artifact: ArtifactRef.safeParse(artifact).data,
    bytes: typeof bytes === 'number' ? bytes : null,
    error: typeof error === 'string' ? `: ${error.slice(0, 500)}` : '',
  };
}

/** What lies at the end of a path; undefined when there is nothing. */
export function valueAt(value: Json, path: readonly string[]): Json | undefined {
  let at: Json | undefined = value;
  for (const name of path) {
    if (at === null || typeof at !== 'object' || !Object.hasOwn(at, name)) return undefined;
    if (Array.isArray(at) && !/^\d+$/.test(name)) return undefined;
    at = (at as Readonly<Record<string, Json>>)[name];
  }
  return at;
}

/** Whether a string that was cut is, is in, or holds what lies at the place. */
function touches(cut: string, place: TextPlace): boolean {
  if (place.kind !== 'at' || cut === '') return true;
  const wanted = pathOf(place.path.map((name) => (/^\d+$/.test(name) ? Number(name) : name)));
  return cut === wanted || wanted === '' || isWithin(cut, wanted) || isWithin(wanted, cut);
}

const isWithin = (path: string, outer: string): boolean =>
  path.startsWith(outer) && /^[.[]/.test(path.slice(outer.length));
