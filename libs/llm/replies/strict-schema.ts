import { z } from 'zod';
import type { Json } from '#proto';
import { readReplyJson } from './reply-json.js';

/** A node of a JSON Schema, as far as it is looked into here. */
type Node = Readonly<Record<string, Json>>;

/** A zod schema in the dialect that strict structured output takes, and the way back. */
export interface StrictSchema {
  /** Every property required, none besides them, no keyword that endpoints refuse. */
  readonly json: Record<string, Json>;
  /** From what the dialect makes a model write to what the zod schema reads. Leaves alone what does not look like it. */
  readonly toInput: (value: Json) => Json;
}

/** Under this name a reply lies whose schema is not an object: the dialect wants one at the root. */
const WRAPPER = 'reply';

/**
 * The dialect knows neither optional properties nor open maps. An optional property may be null, and null is taken away again
 * before zod looks; an open map, or a value of any shape, is written as text that holds JSON. Bounds the dialect does not know are
 * said in the description; zod checks them. Throws for what cannot be said at all: such a schema is a mistake of ours.
 */
export function strictSchema(schema: z.ZodType): StrictSchema {
  let made = known.get(schema);
  if (made === undefined) {
    made = makeStrict(schema);
    known.set(schema, made);
  }
  return made;
}

/** Made once for each schema: agents ask with the same one at every step. */
const known = new WeakMap<z.ZodType, StrictSchema>();

function makeStrict(schema: z.ZodType): StrictSchema {
  const { $schema: _, ...root } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Node;
  const definitions = asNode(root['$defs']);
  const { $defs: __, ...body } = root;
  const wrapped = body['type'] !== 'object' || isMap(body);
  const json = wrapped
    ? { type: 'object', properties: { [WRAPPER]: strict(body) }, required: [WRAPPER], additionalProperties: false }
    : strict(body);
  const named = Object.entries(definitions ?? {}).map(([name, node]) => [name, strict(asNode(node) ?? {})] as const);
  const toInput = (value: Json): Json => relaxed(wrapped ? unwrapped(value) : value, body, definitions ?? {});
  return { json: named.length > 0 ? { ...json, $defs: Object.fromEntries(named) } : json, toInput };
}

/** Keywords that are carried over as they are. */
const KEPT = ['type', 'enum', 'const', '$ref', 'description'] as const;
/** What a reader of the description should know, of keywords that are not carried over. */
const BOUNDS: Readonly<Record<string, (bound: string) => string>> = {
  minLength: (bound) => `at least ${bound} characters`,
  maxLength: (bound) => `at most ${bound} characters`,
  minItems: (bound) => `at least ${bound} items`,
  maxItems: (bound) => `at most ${bound} items`,
  minimum: (bound) => `not below ${bound}`,
  maximum: (bound) => `not above ${bound}`,
  pattern: (bound) => `matches ${bound}`,
};
const IMPOSSIBLE = ['allOf', 'not', 'prefixItems', 'patternProperties', 'if'] as const;

function strict(node: Node): Record<string, Json> {
  const impossible = IMPOSSIBLE.find((keyword) => node[keyword] !== undefined);
  if (impossible !== undefined) throw new TypeError(`strict structured output cannot say "${impossible}"`);
  if (isMap(node)) {
    const type = takesNull(node) ? ['string', 'null'] : 'string';
    return { type, description: described(node, 'a JSON object, written as text') };
  }
  if (isAny(node)) return { type: 'string', description: described(node, 'any JSON value, written as text') };
  const kept: Record<string, Json> = {};
  for (const keyword of KEPT) if (node[keyword] !== undefined) kept[keyword] = node[keyword];
  const description = described(node);
  if (description !== '') kept['description'] = description;
  const branches = branchesOf(node);
  if (branches !== undefined) kept['anyOf'] = branches.map(strict);
  const items = asNode(node['items']);
  if (items !== undefined) kept['items'] = strict(items);
  if (typesOf(node).includes('object')) Object.assign(kept, strictProperties(node));
  return kept;
}

function strictProperties(node: Node): Record<string, Json> {
  const properties = asNode(node['properties']) ?? {};
  const required = requiredOf(node);
  const each = Object.entries(properties).map(([name, child]) => {
    const made = strict(asNode(child) ?? {});
    return [name, required.has(name) || takesNull(child) ? made : { anyOf: [made, { type: 'null' }] }] as const;
  });
  return { properties: Object.fromEntries(each), required: Object.keys(properties), additionalProperties: false };
}

function described(node: Node, form?: string): string {
  const bounds = Object.entries(BOUNDS).flatMap(([keyword, say]) => {
    const bound = node[keyword];
    return isBound(bound) ? [say(String(bound))] : [];
  });
  const own = typeof node['description'] === 'string' ? [node['description']] : [];
  return [...own, ...(form === undefined ? [] : [form]), ...bounds].join('; ');
}

/** Undoes `strict` on a value. */
function relaxed(value: Json, node: Node, definitions: Node): Json {
  const target = followed(node, definitions);
  if (isMap(target) || isAny(target)) return typeof value === 'string' ? unpacked(value, isMap(target)) : value;
  const branches = branchesOf(target);
  if (branches !== undefined) {
    const branch = branches.find((candidate) => fits(value, followed(candidate, definitions)));
    return branch === undefined ? value : relaxed(value, branch, definitions);
  }
  if (Array.isArray(value)) {
    const items = asNode(target['items']);
    return items === undefined ? value : value.map((item) => relaxed(item, items, definitions));
  }
  const properties = asNode(target['properties']);
  if (properties === undefined || typeof value !== 'object' || value === null) return value;
  const required = requiredOf(target);
  const kept = Object.entries(value).flatMap(([name, item]): [string, Json][] => {
    const child = Object.hasOwn(properties, name) ? asNode(properties[name]) : undefined;
    if (child === undefined) return [[name, item]];
    if (item === null && !required.has(name) && !takesNull(child)) return [];
    return [[name, relaxed(item, child, definitions)]];
  });
  return Object.fromEntries(kept);
}

/** JSON inside of text; text that is not JSON is left for zod to judge. */
function unpacked(text: string, mapOnly: boolean): Json {
  if (mapOnly && text.trim() === '') return {};
  const read = readReplyJson(text);
  if (read.kind === 'problem') return text;
  return mapOnly && (typeof read.value !== 'object' || Array.isArray(read.value)) ? text : read.value;
}

/** Whether a value could be meant for this branch: by its type, and by the constants that tell branches apart. */
function fits(value: Json, node: Node): boolean {
  if (isMap(node) || isAny(node)) return value !== null || takesNull(node);
  if (node['const'] !== undefined && node['const'] !== value) return false;
  if (Array.isArray(node['enum']) && !node['enum'].includes(value)) return false;
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  const types = typesOf(node);
  if (types.length > 0 && !types.includes(type) && !(type === 'number' && types.includes('integer'))) return false;
  const properties = asNode(node['properties']) ?? {};
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return true;
  return Object.entries(properties).every(([name, child]) => {
    const constant = asNode(child)?.['const'];
    return constant === undefined || value[name] === constant;
  });
}

function followed(node: Node, definitions: Node): Node {
  const reference = node['$ref'];
  if (typeof reference !== 'string') return node;
  return asNode(definitions[reference.replace(/^#\/\$defs\//u, '')]) ?? {};
}

function unwrapped(value: Json): Json {
  const isWrapped = typeof value === 'object' && value !== null && Object.keys(value).join() === WRAPPER;
  return isWrapped && !Array.isArray(value) ? (value[WRAPPER] ?? null) : value;
}

const SHAPES = ['type', 'enum', 'const', '$ref', 'anyOf', 'oneOf'] as const;
const isAny = (node: Node): boolean => SHAPES.every((keyword) => node[keyword] === undefined);
const isMap = (node: Node): boolean => typesOf(node).includes('object') && asNode(node['properties']) === undefined;

function typesOf({ type }: Node): readonly Json[] {
  if (type === undefined) return [];
  return Array.isArray(type) ? type : [type];
}

/** The bounds that every whole number has are no news. */
const isBound = (bound: Json | undefined): bound is string | number =>
  typeof bound === 'string' || (typeof bound === 'number' && Math.abs(bound) < Number.MAX_SAFE_INTEGER);

function branchesOf(node: Node): Node[] | undefined {
  const branches = node['anyOf'] ?? node['oneOf'];
  return Array.isArray(branches) ? branches.map((branch) => asNode(branch) ?? {}) : undefined;
}

function takesNull(child: Json | undefined): boolean {
  const node = asNode(child) ?? {};
  return typesOf(node).includes('null') || branchesOf(node)?.some(takesNull) === true;
}

const requiredOf = (node: Node): Set<Json> => new Set(Array.isArray(node['required']) ? node['required'] : []);

function asNode(value: Json | undefined): Node | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}
