import { Environment, type ASTNode } from '@marcbachmann/cel-js';
import { LIMITS, parseJson, type Json } from '#proto';
import { patternOf } from './condition-pattern.js';

/** A syntax tree, for who reads conditions and not the parser. */
export type Syntax = ASTNode;

/** A condition that was read: its syntax tree, what is wrong with its types, and its value over variables. */
export interface Expression {
  readonly ast: Syntax;
  check(): { readonly valid: boolean; readonly type?: unknown; readonly error?: Error };
  evaluate(variables: Readonly<Record<string, unknown>>): unknown;
}

// Conditions come from outside. The syntax tree is bounded; `matches` is linear in the text and its pattern is known
// beforehand; what makes lists has a bound on them; `hex` and `base64`, which would double a text again and again, are not
// there; and neither a comprehension nor a `cel.bind` stands inside another one of its kind.
const LANGUAGE = {
  unlistedVariablesAreDyn: false,
  limits: { maxAstNodes: 200, maxDepth: 30, maxListElements: 50, maxMapEntries: 50 },
} as const;

/** Methods of the library that have no bound, and ours that stand for them, with a "_" before them that nobody may write. */
const BOUNDED: Readonly<Record<string, string>> = { matches: 're2', split: 'parts', json: 'parsed' };
const UNAVAILABLE = new Set(['hex', 'base64']);

/** An environment in which `status` is a text and `result` what is declared. */
export function languageWith(declare: (environment: Environment) => Environment): Environment {
  return languageOf((language) => declare(language.registerVariable('status', 'string')));
}

/** An environment with the variables that are declared, and no others. */
export function languageOf(declare: (environment: Environment) => Environment): Environment {
  return declare(new Environment(LANGUAGE))
    .registerFunction('string.lines(): list<string>', (text: string) => linesOf(text))
    .registerFunction('string._re2(string): bool', (text: string, source: string) => patternOf(source).test(text))
    .registerFunction('string._parts(string): list<string>', (text: string, by: string) => partsOf(text, by))
    .registerFunction('string._parsed(): dyn', (text: string) => parsedJson(text));
}

/** Parses a condition. Throws on what is no CEL, and on what is not available, with one sentence. */
export function read(environment: Environment, condition: string): Expression {
  const expression = environment.parse(condition);
  const forbidden = forbiddenIn(expression.ast, { comprehensions: 0, bindings: 0 });
  if (forbidden !== undefined) throw new NotInConditionsError(forbidden);
  putBounds(expression.ast);
  return {
    ast: expression.ast,
    check: () => expression.check(),
    evaluate: (variables) => expression(variables),
  };
}

/** What is said of it, without the names that nobody wrote. */
export function sentenceOfError(error: unknown): string {
  const text = (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
  return text.replaceAll(/\b_(re2|parts|parsed)\b/gu, (_, name: string) => WRITTEN[name] ?? name);
}

const WRITTEN: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(BOUNDED).map(([written, name]) => [name, written]),
);

/** It is CEL, and not available here. The message goes on after "the condition". */
export class NotInConditionsError extends Error {}

/** `name` of a call: a method has its receiver first. Undefined of what is no call. */
export function conditionCallOf({
  op,
  args,
}: ASTNode): { readonly name: string; readonly args: readonly ASTNode[] } | undefined {
  const parts = args as unknown;
  if (!Array.isArray(parts)) return undefined;
  if (op === 'call') return { name: String(parts[0]), args: parts[1] as ASTNode[] };
  if (op === 'rcall') return { name: String(parts[0]), args: [parts[1] as ASTNode, ...(parts[2] as ASTNode[])] };
  return undefined;
}

export function childrenOf({ args }: ASTNode): ASTNode[] {
  return nodesIn(args);
}

function nodesIn(args: unknown): ASTNode[] {
  if (Array.isArray(args)) return args.flatMap(nodesIn);
  return typeof args === 'object' && args !== null && 'op' in args ? [args as ASTNode] : [];
}

export const COMPREHENSIONS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

interface Nesting {
  readonly comprehensions: number;
  readonly bindings: number;
}

function forbiddenIn(node: ASTNode, outer: Nesting): string | undefined {
  const call = conditionCallOf(node);
  const wrong = call === undefined ? undefined : forbiddenCall(call.name, call.args);
  if (wrong !== undefined) return wrong;
  const comprehensions = outer.comprehensions + Number(call !== undefined && COMPREHENSIONS.has(call.name));
  const bindings = outer.bindings + Number(call?.name === 'bind');
  if (comprehensions > 1)
    return 'has a comprehension (all, exists, map, filter) inside another, which is not available';
  if (bindings > 1) return 'has a cel.bind inside another, which is not available';
  for (const child of childrenOf(node)) {
    const forbidden = forbiddenIn(child, { comprehensions, bindings });
    if (forbidden !== undefined) return forbidden;
  }
  return undefined;
}

function forbiddenCall(name: string, args: readonly ASTNode[]): string | undefined {
  if (UNAVAILABLE.has(name) || name.startsWith('_')) return `uses ${name}, which is not available`;
  if (name !== 'matches') return undefined;
  const source = args[1] === undefined ? undefined : literalOf(args[1]);
  if (typeof source !== 'string') return 'needs the pattern of matches as a text in quotes';
  try {
    patternOf(source);
    return undefined;
  } catch (error) {
    return `cannot be used: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** The value of a literal; undefined of anything else. */
export function literalOf({ op, args }: ASTNode): unknown {
  return op === 'value' ? args : undefined;
}

/** Calls ours in place of those of the library. */
function putBounds(node: ASTNode): void {
  const { op, args } = node as { op: string; args: unknown };
  if (op === 'rcall' && Array.isArray(args)) {
    const bounded = BOUNDED[String(args[0])];
    if (bounded !== undefined) args[0] = `_${bounded}`;
  }
  for (const child of childrenOf(node)) putBounds(child);
}

/** Without their ends; what ends with a line end has no empty line behind it. */
function linesOf(text: string): string[] {
  const lines = partsOf(text, '\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
}

function partsOf(text: string, by: string): string[] {
  let parts = 1;
  if (by === '') parts = text.length;
  else for (let at = text.indexOf(by); at >= 0; at = text.indexOf(by, at + by.length)) bounded(++parts, 'parts');
  bounded(parts, 'parts');
  return text.split(by);
}

function parsedJson(text: string): unknown {
  bounded(valuesIn(text), 'values');
  const value = parseJson(text) as Json | undefined;
  if (value === undefined) throw new Error('json() was called on a text that is no JSON');
  return celValue(value);
}

function bounded(count: number, of: string): void {
  if (count > LIMITS.conditionItemsMax) throw new Error(`there are more than ${LIMITS.conditionItemsMax} ${of}`);
}

/** Values of a JSON text, or a few more: how many there would be is known before any is made. */
export function valuesIn(json: string): number {
  let values = 1;
  let inText = false;
  for (let at = 0; at < json.length; at++) {
    const char = json.charCodeAt(at);
    if (char === QUOTE) inText = !inText;
    else if (char === BACKSLASH && inText) at++;
    else if (!inText && (char === COMMA || char === LIST || char === OBJECT)) values++;
  }
  return values;
}

const [QUOTE, BACKSLASH, COMMA, LIST, OBJECT] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b];

/** CEL tells integers from doubles: JSON's integers are handed over as integers, or `exit_code + 1` would be an error. */
export function celValue(value: Json): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(celValue);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, celValue(field)]));
}
