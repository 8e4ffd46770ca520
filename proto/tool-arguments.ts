import { fieldsOf, isObject } from './json.js';
import type { Json } from './ids.js';
import { meantName } from './similar.js';

/** One argument of a call that its tool cannot take. */
export interface ArgumentProblem {
  readonly name: string;
  readonly kind: 'missing' | 'unknown' | 'wrong';
  /** What would be valid, as the rest of a sentence that begins with the argument. */
  readonly message: string;
}

const VALUES_SHOWN_MAX = 30;

/**
 * What the JSON Schema of a tool's arguments says against a call: arguments that are missing, unknown, or of another type, value or
 * size. What a schema says beyond that is left to the tool; one that says nothing has nothing against anything.
 */
export function argumentProblems(
  given: Readonly<Record<string, Json>>,
  inputSchema: Readonly<Record<string, Json>> | undefined,
): ArgumentProblem[] {
  const schema = inputSchema ?? {};
  const properties = fieldsOf(schema['properties']);
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const known = Object.keys(properties);
  const missing = required.filter((name) => typeof name === 'string').filter((name) => !Object.hasOwn(given, name));
  const unknown =
    schema['additionalProperties'] === false ? Object.keys(given).filter((name) => !known.includes(name)) : [];
  const wrong = Object.entries(given).flatMap(([name, value]): ArgumentProblem[] => {
    const message = valueProblem(value, fieldsOf(properties[name]));
    return message === null ? [] : [{ name, kind: 'wrong', message }];
  });
  return [
    ...missing.map((name) => ({ name, kind: 'missing' as const, message: 'is missing' })),
    ...unknown.map((name) => ({ name, kind: 'unknown' as const, message: unknownWords(name, known) })),
    ...wrong,
  ];
}

function unknownWords(name: string, known: readonly string[]): string {
  const meant = meantName(name, known);
  const mean = meant === undefined ? '' : `; did you mean "${meant}"?`;
  return `is no argument of it${known.length > 0 ? `, those are ${known.join(', ')}` : ''}${mean}`;
}

function valueProblem(value: Json, schema: Readonly<Record<string, Json>>): string | null {
  const { type, enum: values } = schema;
  const types = typeof type === 'string' ? [type] : Array.isArray(type) ? type : [];
  if (types.length > 0 && !types.some((one) => isOfType(value, one)))
    return `must be ${types.map(shownType).join(' or ')}`;
  if (Array.isArray(values) && !values.some((one) => one === value)) {
    return `must be one of ${values
      .slice(0, VALUES_SHOWN_MAX)
      .map((one) => JSON.stringify(one))
      .join(', ')}`;
  }
  if (typeof value === 'string') {
    if (typeof schema['minLength'] === 'number' && value.length < schema['minLength']) return 'is too short';
    if (typeof schema['maxLength'] === 'number' && value.length > schema['maxLength']) return 'is too long';
  }
  if (typeof value === 'number') {
    if (typeof schema['minimum'] === 'number' && value < schema['minimum'])
      return `must be at least ${schema['minimum']}`;
    if (typeof schema['maximum'] === 'number' && value > schema['maximum'])
      return `must be at most ${schema['maximum']}`;
  }
  return null;
}

/** A type that is not known is the tool's business. */
function isOfType(value: Json, type: Json): boolean {
  switch (type) {
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type;
    case 'integer':
      return Number.isInteger(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'null':
      return value === null;
    default:
      return true;
  }
}

const shownType = (type: Json): string => TYPES.get(type) ?? 'of another type';

const TYPES = new Map<Json, string>([
  ['string', 'a string'],
  ['number', 'a number'],
  ['integer', 'an integer'],
  ['boolean', 'true or false'],
  ['array', 'an array'],
  ['object', 'an object'],
  ['null', 'null'],
]);
