import type { Json } from '#proto';

/** Far more than a reply needs. */
const DEPTH_MAX = 64;
const SNIPPET_CHARS_MAX = 160;
const FENCED = /^```(?:json)?[ \t]*\r?\n([\s\S]*?)\r?\n?```$/u;

export type ReadJson =
  { readonly kind: 'json'; readonly value: Json } | { readonly kind: 'problem'; readonly problem: string };

/**
 * Reads the JSON of a reply. Space around it and one code fence around the whole are forgiven, nothing else is: to search a text
 * for something that could be meant is to act on what nobody said. Strings come back well-formed, as a commit needs them.
 */
export function readReplyJson(reply: string): ReadJson {
  const text = unfenced(reply.trim());
  if (text === '') return problem('the reply is empty');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return problem(`the reply is not one JSON value: ${messageOf(error)}`);
  }
  const offence = offenceIn(text);
  if (offence !== null) return problem(offence);
  return { kind: 'json', value: wellFormed(value as Json) };
}

function unfenced(text: string): string {
  return FENCED.exec(text)?.[1]?.trim() ?? text;
}

interface Level {
  /** Undefined in an array. */
  readonly keys: Set<string> | undefined;
  expectsKey: boolean;
}

/**
 * What valid JSON may hold and a reply may not: one name twice (readers differ on which one counts), names that reach into
 * prototypes, and more levels than a later recursion survives.
 */
function offenceIn(text: string): string | null {
  const levels: Level[] = [];
  for (let at = 0; at < text.length; at++) {
    const level = levels.at(-1);
    switch (text[at]) {
      case '{':
      case '[':
        if (levels.length === DEPTH_MAX) return `the reply is nested deeper than ${DEPTH_MAX} levels`;
        levels.push(text[at] === '{' ? { keys: new Set(), expectsKey: true } : { keys: undefined, expectsKey: false });
        break;
      case '}':
      case ']':
        levels.pop();
        break;
      case ',':
        if (level?.keys !== undefined) level.expectsKey = true;
        break;
      case '"': {
        const end = endOfString(text, at);
        if (level?.expectsKey === true) {
          const key = String(JSON.parse(text.slice(at, end)));
          if (key === '__proto__') return `the reply has a field named ${key}, which is not allowed`;
          if (level.keys?.has(key) === true) return `the reply has the field ${shown(key)} twice in one object`;
          level.keys?.add(key);
          level.expectsKey = false;
        }
        at = end - 1;
        break;
      }
      default:
    }
  }
  return null;
}

/** Position after the closing quote of the string that begins here; the text is known to be valid JSON. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function wellFormed(value: Json): Json {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(wellFormed);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormed(item)]));
}

const problem = (text: string): ReadJson => ({ kind: 'problem', problem: text });
const shown = (text: string): string => JSON.stringify(text.slice(0, SNIPPET_CHARS_MAX).toWellFormed());
const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : 'it cannot be read').slice(0, SNIPPET_CHARS_MAX * 2).toWellFormed();
