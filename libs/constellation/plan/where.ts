import { type Json, LIMITS, type ProfileType, typeOfKey } from '#proto';
import {
  celValue,
  childrenOf,
  COMPREHENSIONS,
  conditionCallOf,
  type Expression,
  languageOf,
  literalOf,
  NotInConditionsError,
  read,
  sentenceOfError,
  type Syntax,
} from './condition-language.js';

// `where` of a selector: a condition over what is known of a device, in the language of the conditions of lines. A name that a device
// does not have is an error of CEL, and an error is no match: nobody is chosen for what is not known of him.

/** What a profile holds, as a tree of names. */
export type ProfileTree = Readonly<Record<string, Json>>;

export type WhereAnswer = { readonly holds: true } | WhereMiss;
/** Why a device does not match. `words` are about `key` where there is one. */
export type WhereMiss =
  | { readonly holds: false; readonly kind: 'lacks'; readonly key: string }
  | { readonly holds: false; readonly kind: 'differs'; readonly key: string; readonly words: string }
  | { readonly holds: false; readonly kind: 'fails'; readonly words: string };

const VARIABLE = 'profile';
const environment = languageOf((language) => language.registerVariable(VARIABLE, 'map'));

/** What is known of an expression without any device. */
interface Reading {
  readonly wrong: string | undefined;
  readonly expression: Expression | undefined;
  readonly keys: readonly string[];
}

const READINGS_MAX = 1_000;
const readings = new Map<string, Reading>();

function readingOf(where: string): Reading {
  const known = readings.get(where);
  if (known !== undefined) return known;
  const reading = readAnew(where);
  if (readings.size >= READINGS_MAX) readings.delete(readings.keys().next().value ?? '');
  readings.set(where, reading);
  return reading;
}

const unreadable = (wrong: string): Reading => ({ wrong, expression: undefined, keys: [] });

function readAnew(where: string): Reading {
  if (where.length > LIMITS.conditionCharsMax)
    return unreadable(`is longer than ${LIMITS.conditionCharsMax} characters`);
  try {
    // The tree is read twice: what is evaluated calls bounded functions under other names.
    const { ast } = environment.parse(where);
    const expression = read(environment, where);
    const { valid, type, error } = expression.check();
    if (!valid) return unreadable(`is not valid CEL: ${sentenceOfError(error)} (the variable is ${VARIABLE})`);
    if (type !== 'bool' && type !== 'dyn') return unreadable(`must be true or false, but is of type ${String(type)}`);
    const wrong = wrongIn(ast);
    const keys = keysIn(ast);
    if (wrong !== undefined) return unreadable(wrong);
    if (!mentions(ast))
      return unreadable(`says nothing about a device: ask for ${VARIABLE}.<name>, such as profile.os`);
    return { wrong: undefined, expression: { ...expression, ast }, keys };
  } catch (error) {
    return unreadable(
      error instanceof NotInConditionsError ? error.message : `is not valid CEL: ${sentenceOfError(error)}`,
    );
  }
}

/** Says in one sentence what is wrong with a `where`; undefined when it may be asked of devices. The sentence goes on after "where". */
export function checkWhere(where: string): string | undefined {
  return readingOf(where).wrong;
}

/** The names that a `where` needs: those that it only asks for with `has` apart. */
export function keysOfWhere(where: string): readonly string[] {
  return readingOf(where).keys;
}

/** Whether a device matches, and why not. Total: never throws. */
export function judgeWhere(where: string, tree: ProfileTree): WhereAnswer {
  const { wrong, expression } = readingOf(where);
  if (expression === undefined) return { holds: false, kind: 'fails', words: `do not match: where ${wrong ?? ''}` };
  try {
    const value = expression.evaluate({ [VARIABLE]: celValue(tree) });
    if (value === true) return { holds: true };
    const miss = missIn(expression.ast, tree);
    if (miss !== undefined) return miss;
    return { holds: false, kind: 'fails', words: 'do not match where' };
  } catch (error) {
    return missIn(expression.ast, tree) ?? { holds: false, kind: 'fails', words: `fail: ${sentenceOfError(error)}` };
  }
}

const BELOW: Readonly<Record<string, string>> = { '>=': 'below', '>': 'not above', '<=': 'above', '<': 'not below' };
const TURNED: Readonly<Record<string, string>> = { '>=': '<=', '>': '<', '<=': '>=', '<': '>', '==': '==', '!=': '!=' };

interface Comparison {
  readonly key: string;
  readonly op: string;
  readonly literal: unknown;
}

function comparisonOf(node: Syntax): Comparison | undefined {
  const turned = TURNED[node.op];
  if (turned === undefined) return undefined;
  const [left, right] = node.args as readonly [Syntax, Syntax];
  const [one, other] = [keyOf(left), keyOf(right)];
  if (one !== undefined && literalOf(right) !== undefined) return { key: one, op: node.op, literal: literalOf(right) };
  if (other !== undefined && literalOf(left) !== undefined) return { key: other, op: turned, literal: literalOf(left) };
  return undefined;
}

/** The first part that has to hold and does not, as far as that can be said in a few words. */
function missIn(node: Syntax, tree: ProfileTree): WhereMiss | undefined {
  if (node.op === '&&') {
    const [left, right] = node.args as readonly [Syntax, Syntax];
    return missIn(left, tree) ?? missIn(right, tree);
  }
  const lacking = keysIn(node).find((key) => valueAt(tree, key) === undefined);
  const isChoice = node.op === '||' || node.op === '?:' || conditionCallOf(node) !== undefined;
  if (lacking !== undefined && !isChoice) return { holds: false, kind: 'lacks', key: lacking };
  const comparison = comparisonOf(node);
  if (comparison !== undefined) return differing(comparison, valueAt(tree, comparison.key));
  if (node.op !== 'in') return undefined;
  const [item, list] = node.args as readonly [Syntax, Syntax];
  const [key, wanted] = [keyOf(list), literalOf(item)];
  const value = key === undefined ? undefined : valueAt(tree, key);
  if (key === undefined || wanted === undefined || !Array.isArray(value)) return undefined;
  const isThere = value.some((one) => celValue(one) === wanted);
  return isThere ? undefined : { holds: false, kind: 'differs', key, words: `without ${shown(wanted)}` };
}

function differing({ key, op, literal }: Comparison, value: Json | undefined): WhereMiss | undefined {
  const isNumber = typeof literal === 'bigint' || typeof literal === 'number';
  if (isNumber !== (typeof value === 'number') || (typeof literal === 'string') !== (typeof value === 'string')) {
    return { holds: false, kind: 'differs', key, words: `of another type than ${shown(literal)}` };
  }
  const [one, other] = isNumber ? [Number(value), Number(literal)] : [value, literal];
  if (compared(op, one as number, other as number)) return undefined;
  const words =
    op === '==' ? `not ${shown(literal)}` : op === '!=' ? shown(literal) : `${BELOW[op] ?? ''} ${shown(literal)}`;
  return { holds: false, kind: 'differs', key, words };
}

function compared(op: string, one: number, other: number): boolean {
  switch (op) {
    case '>=':
      return one >= other;
    case '>':
      return one > other;
    case '<=':
      return one <= other;
    case '<':
      return one < other;
    case '==':
      return one === other;
    default:
      return one !== other;
  }
}

const shown = (literal: unknown): string => (typeof literal === 'string' ? JSON.stringify(literal) : String(literal));

/** What stands under a name in the tree; undefined when nothing does. A group without a member is nothing. */
function valueAt(tree: ProfileTree, key: string): Json | undefined {
  let value: Json | undefined = tree;
  for (const name of key.split('.')) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, name))
      return undefined;
    value = value[name];
  }
  return value;
}

/** `gpu.memory_gb` of `profile.gpu.memory_gb`; undefined of what is no name of the profile. */
function keyOf(node: Syntax): string | undefined {
  const path = pathTo(node);
  return path === undefined || path.length === 0 ? undefined : path.join('.');
}

function pathTo(node: Syntax): string[] | undefined {
  if (node.op === 'id') return node.args === VARIABLE ? [] : undefined;
  if (node.op !== '.' && node.op !== '[]') return undefined;
  const outer = pathTo(node.args[0]);
  const field = typeof node.args[1] === 'string' ? node.args[1] : literalOf(node.args[1]);
  return outer === undefined || typeof field !== 'string' ? undefined : [...outer, field];
}

/** The longest names that stand in an expression, those within `has` apart. */
function keysIn(node: Syntax): string[] {
  const key = keyOf(node);
  if (key !== undefined) return [key];
  return conditionCallOf(node)?.name === 'has' ? [] : childrenOf(node).flatMap(keysIn);
}

function mentions(node: Syntax): boolean {
  return (node.op === 'id' && node.args === VARIABLE) || childrenOf(node).some(mentions);
}

/** What types show to be wrong, where the type of a name is known whatever the device. */
function wrongIn(node: Syntax): string | undefined {
  const call = conditionCallOf(node);
  const binds = call !== undefined && (COMPREHENSIONS.has(call.name) || call.name === 'bind');
  if (binds && call.args.slice(1).some((arg) => arg.op === 'id' && arg.args === VARIABLE))
    return `names a variable ${VARIABLE}, which is the device`;
  const comparison = comparisonOf(node);
  const wrong = comparison === undefined ? wrongMember(node) : wrongComparison(comparison);
  if (wrong !== undefined) return wrong;
  for (const child of childrenOf(node)) {
    const inside = wrongIn(child);
    if (inside !== undefined) return inside;
  }
  return undefined;
}

const TYPE_WORDS: Readonly<Record<ProfileType, string>> = {
  text: 'a text',
  number: 'a number',
  count: 'a number',
  texts: 'a list of texts',
};

function wrongComparison({ key, op, literal }: Comparison): string | undefined {
  const type = typeOfKey(key);
  if (type === undefined) return undefined;
  const given = typeof literal === 'string' ? 'a text' : isNumber(literal) ? 'a number' : 'something else';
  if (TYPE_WORDS[type] === given) return undefined;
  const instead = type === 'texts' ? `; write ${shown(literal)} in profile.${key}` : '';
  return `compares profile.${key}, which is ${TYPE_WORDS[type]}, by ${op} with ${shown(literal)}, which is ${given}${instead}`;
}

const isNumber = (value: unknown): boolean => typeof value === 'number' || typeof value === 'bigint';

/** `"db" in profile.os` asks for an item of what is no list. */
function wrongMember(node: Syntax): string | undefined {
  if (node.op !== 'in') return undefined;
  const key = keyOf((node.args as readonly [Syntax, Syntax])[1]);
  const type = key === undefined ? undefined : typeOfKey(key);
  if (type === undefined || type === 'texts') return undefined;
  return `looks into profile.${key}, which is ${TYPE_WORDS[type]} and no list`;
}
