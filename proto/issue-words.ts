import type { z } from 'zod';
import { pathOf } from './path.js';
import { meantName } from './similar.js';

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

/**
 * What is wrong where a schema has no words of its own, and what would be valid: the error map of a `safeParse`. Undefined leaves it
 * to the library. The path stands elsewhere.
 */
export const issueWords: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return typeWords(typeName(issue.expected), issue.input);
    case 'invalid_value':
      return valueWords(issue.values, issue.input);
    case 'unrecognized_keys':
      return issue.keys
        .slice(0, KEYS_MAX)
        .map((key) => unknownField(key, issue.inst, ` ${JSON.stringify(key)}`))
        .join('; ');
    case 'too_small':
      return sizeWords(issue.exact === true ? 'exactly' : 'at least', issue.origin, issue.minimum);
    case 'too_big':
      return sizeWords(issue.exact === true ? 'exactly' : 'at most', issue.origin, issue.maximum);
    case 'invalid_key':
      return issue.issues[0]?.message;
    case 'invalid_union':
      return issue.input === undefined ? 'is missing' : unionWords(issue.errors);
    default:
      return undefined;
  }
};

/** Who sends thousands of them has not misspelt anything, and is not to cost more than others. */
const KEYS_MAX = 20;

/** The same where each field that nobody knows becomes an issue of its own, whose path names it: of each a line. */
export const issueLines: z.core.$ZodErrorMap = (issue) =>
  issue.code === 'unrecognized_keys'
    ? issue.keys
        .slice(0, KEYS_MAX)
        .map((key) => unknownField(key, issue.inst))
        .join('\n')
    : issueWords(issue);

function unknownField(key: string, owner: unknown, named = ''): string {
  const meant = meantName(key, fieldsOf(owner));
  return `unknown field${named}${meant === undefined ? '' : `; did you mean "${meant}"?`}`;
}

/** The fields that an object may have, where its schema says so. */
function fieldsOf(owner: unknown): string[] {
  const { shape } = (owner as Partial<z.core.$ZodObject> | undefined)?._zod?.def ?? {};
  return Object.keys(shape ?? {});
}

const typeName = (type: string): string => TYPES[type] ?? `of the type ${type}`;

function typeWords(wanted: string, input: unknown): string {
  return input === undefined ? `is missing; it must be ${wanted}` : `must be ${wanted}, not ${given(input)}`;
}

/** What a text may be instead is said; the text itself is not. */
function valueWords(values: readonly z.core.util.Primitive[], input: unknown): string {
  const texts = values.filter((value) => typeof value === 'string');
  if (typeof input !== 'string' || texts.length === 0) return typeWords(oneOf(values), input);
  const meant = meantName(input, texts);
  return `must be ${oneOf(values)}${meant === undefined ? '' : `; did you mean ${JSON.stringify(meant)}?`}`;
}

/** Of a text only that it is one: an input may hold what does not belong into a message. */
function given(input: unknown): string {
  if (input === null) return 'null';
  if (Array.isArray(input)) return typeName('array');
  if (typeof input === 'number' || typeof input === 'boolean') return String(input);
  return typeName(typeof input);
}

function oneOf(values: readonly z.core.util.Primitive[]): string {
  const all = values.map((value) => (typeof value === 'string' ? JSON.stringify(value) : String(value)));
  return all.length > 1 ? `one of ${all.join(', ')}` : all.join('');
}

function sizeWords(bound: string, origin: string, size: number | bigint): string {
  if (origin === 'string') return `must have ${bound} ${size} ${size === 1 ? 'character' : 'characters'}`;
  if (origin === 'array') return `must have ${bound} ${size} ${size === 1 ? 'item' : 'items'}`;
  return `must be ${bound} ${size}`;
}

/** Where no form comes near, all that are allowed; else what is wrong with the nearest one. */
function unionWords(branches: readonly (readonly z.core.$ZodIssue[])[]): string | undefined {
  const inside = branches.filter((issues) => issues.every(({ path }) => path.length > 0));
  const [nearest] = inside.toSorted((one, other) => one.length - other.length);
  const [first] = nearest ?? [];
  if (first?.code === 'unrecognized_keys') return `${pathOf([...first.path, ...first.keys.slice(0, 1)])} is unknown`;
  if (first !== undefined) return `${pathOf(first.path)} ${first.message}`;
  const words = new Set(branches.flatMap((issues) => issues.slice(0, 1).map(({ message }) => message)));
  return words.size === 0 ? undefined : [...words].join(', or ');
}
