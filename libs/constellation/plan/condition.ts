import type { ASTNode } from '@marcbachmann/cel-js';
import { type Json, LIMITS, pathOf, type TaskStatus } from '#proto';
import {
  conditionCallOf,
  celValue,
  childrenOf,
  type Expression,
  languageWith,
  literalOf,
  read,
  sentenceOfError,
  NotInConditionsError,
} from './condition-language.js';
import { wrongTypes } from './condition-types.js';

/** What a condition is evaluated over: how its predecessor ended and what it answered, all of it. */
export interface ConditionScope {
  readonly status: TaskStatus;
  readonly result: Json;
  /** What it reads of the board of the run; nothing where it reads none. */
  readonly board?: Json | undefined;
}

/** What a condition comes to. What cannot be judged is undecided: that is not a no. */
export type Truth =
  { readonly truth: 'satisfied' } | { readonly truth: 'unsatisfied' | 'undecided'; readonly reason: string };

const environment = languageWith((language) =>
  language.registerVariable('result', 'dyn').registerVariable('board', 'dyn'),
);

/**
 * Says in one sentence what is wrong with a condition; undefined when it parses and could be true or false. `tool`: whose
 * answer it is about, where that is known.
 */
export function checkCondition(condition: string, tool?: string): string | undefined {
  const expression = parsed(condition);
  if (typeof expression === 'string') return expression;
  // The tree is read once more: what was checked with one type of result cannot be checked with another.
  return wrongTypes(condition, environment.parse(condition).ast, tool);
}

/** Reads a condition, or says what is wrong with it. */
function parsed(condition: string): Expression | string {
  if (condition.length > LIMITS.conditionCharsMax) return `is longer than ${LIMITS.conditionCharsMax} characters`;
  try {
    const expression = read(environment, condition);
    const { valid, type, error } = expression.check();
    if (!valid) return `is not valid CEL: ${sentenceOfError(error)} (the variables are status, result and board)`;
    if (type !== 'bool' && type !== 'dyn') return `must be true or false, but is of type ${String(type)}`;
    return expression;
  } catch (error) {
    return error instanceof NotInConditionsError ? error.message : `is not valid CEL: ${sentenceOfError(error)}`;
  }
}

/**
 * What a condition comes to over a whole value. Total: never throws. A condition that fails (a missing field, a type that
 * does not fit) or is no bool is undecided. Takes time in proportion to the value where `isPlain` says so, otherwise as long
 * as it takes.
 */
export function evaluateCondition(condition: string, { status, result, board = {} }: ConditionScope): Truth {
  const expression = parsed(condition);
  if (typeof expression === 'string') return undecided(`the condition ${expression}`);
  try {
    const lost = streamsReadBy(condition, result).find((stream) => isLost(result, stream));
    if (lost !== undefined) return undecided(`only a part of ${lost} is there`);
    const value = expression.evaluate({ status, result: celValue(result), board: boardValue(board) });
    if (value === true) return { truth: 'satisfied' };
    if (value === false) return { truth: 'unsatisfied', reason: `the condition ${condition} is false` };
    return undecided('it is neither true nor false');
  } catch (error) {
    return undecided(hinted(sentenceOfError(error)));
  }
}

/** A map: under which names something stands is for those to say who write there, `constructor` among them. */
function boardValue(board: Json): unknown {
  const values = typeof board === 'object' && board !== null ? Object.entries(board) : [];
  return new Map(values.map(([name, value]) => [name, celValue(value)]));
}

export function undecided(reason: string): Truth {
  return { truth: 'undecided', reason };
}

/** The usual way to fail: what a shell prints ends with a line end, and is no number. */
function hinted(reason: string): string {
  return reason.includes('cannot convert') ? `${reason}; trim() takes line ends off` : reason;
}

/** Calls that take time in proportion to what they are given, and give no more than that. */
const PLAIN_CALLS: ReadonlySet<string> = new Set([
  'has',
  'size',
  'int',
  'uint',
  'double',
  'string',
  'bool',
  'dyn',
  'type',
  'contains',
  'startsWith',
  'endsWith',
  'trim',
  'lowerAscii',
  'upperAscii',
  'indexOf',
  'lastIndexOf',
  'substring',
]);

/** Nothing in it is done again and again, nothing compiled: over a small value it may be judged where everybody waits for it. */
export function isPlain(condition: string): boolean {
  return readingOf(condition).isPlain;
}

function isPlainNode(node: ASTNode): boolean {
  const call = conditionCallOf(node);
  return (call === undefined || PLAIN_CALLS.has(call.name)) && childrenOf(node).every(isPlainNode);
}

/** Whether a condition reads nothing of what was cut: `cut` are paths of a result (empty: the result as a whole). */
export function readsWhole(condition: string, cut: readonly string[]): boolean {
  if (cut.length === 0) return true;
  const touches = (path: string) => cut.some((at) => at === '' || isWithin(at, path) || isWithin(path, at));
  return !readingOf(condition).paths.some(touches);
}

const STREAMS = ['stdout', 'stderr'] as const;
export type Stream = (typeof STREAMS)[number];

/** Outputs of a command that a condition reads. */
export function streamsReadBy(condition: string, result: Json): Stream[] {
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return [];
  const { paths } = readingOf(condition);
  return STREAMS.filter((stream) => paths.some((path) => isWithin(path, stream) || isWithin(stream, path)));
}

/** No output of a command up to this many bytes is ever cut by its device. */
const STREAM_WHOLE_BYTES = 64 * 1024;
const encoder = new TextEncoder();

/** The device kept a part of a command's output, and nobody stored the whole. */
function isLost(result: Json, stream: Stream): boolean {
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return false;
  const { [stream]: text, [`${stream}_bytes`]: bytes, [`${stream}_artifact`]: artifact } = result;
  if (typeof text !== 'string' || typeof bytes !== 'number' || bytes <= STREAM_WHOLE_BYTES) return false;
  return artifact === undefined && encoder.encode(text).length < bytes;
}

/** The result as a whole, which is the empty path, has everything within it. */
function isWithin(path: string, outer: string): boolean {
  return outer === '' || path === outer || path.startsWith(`${outer}.`) || path.startsWith(`${outer}[`);
}

/** Names of the board that a condition reads; null: any, because it reckons which. Empty where it does not look there. */
export function boardNamesReadBy(condition: string): readonly string[] | null {
  return readingOf(condition).board;
}

function boardNamesIn(node: ASTNode): string[] | null {
  const { op, args } = node as { readonly op: string; readonly args: unknown };
  if (op === 'id') return args === 'board' ? null : [];
  if ((op === '.' || op === '[]') && Array.isArray(args) && isBoard(args[0] as ASTNode)) {
    const field = typeof args[1] === 'string' ? args[1] : literalOf(args[1] as ASTNode);
    return typeof field === 'string' ? [field] : null;
  }
  const names = new Set<string>();
  for (const child of childrenOf(node)) {
    const inner = boardNamesIn(child);
    if (inner === null) return null;
    for (const name of inner) names.add(name);
  }
  return [...names];
}

const isBoard = ({ op, args }: ASTNode): boolean => op === 'id' && args === 'board';

/** Where in the result a condition reads, as `pathOf` writes it: the longest paths that stand in its text. */
function pathsIn(node: ASTNode): string[] {
  const path = pathTo(node);
  if (path === undefined) return childrenOf(node).flatMap(pathsIn);
  return [pathOf(path), ...indexesIn(node).flatMap(pathsIn)];
}

/** What is reckoned on the way to a place in the result. */
function indexesIn(node: ASTNode): ASTNode[] {
  if (node.op === '.') return indexesIn(node.args[0]);
  return node.op === '[]' ? [node.args[1], ...indexesIn(node.args[0])] : [];
}

/** Undefined of what is no access to the result. */
function pathTo(node: ASTNode): PropertyKey[] | undefined {
  if (node.op === 'id') return node.args === 'result' ? [] : undefined;
  if (node.op !== '.' && node.op !== '[]') return undefined;
  const outer = pathTo(node.args[0]);
  const field = typeof node.args[1] === 'string' ? node.args[1] : literalOf(node.args[1]);
  if (outer === undefined) return undefined;
  // An index that is reckoned may be any: the whole list is read.
  if (typeof field !== 'string' && typeof field !== 'bigint') return outer;
  return [...outer, typeof field === 'bigint' ? Number(field) : field];
}

/** What is known of a condition without any value. What cannot be read reads nothing: it is undecided over whatever it is. */
interface Reading {
  readonly isPlain: boolean;
  readonly paths: readonly string[];
  readonly board: readonly string[] | null;
}

const READINGS_MAX = 1_000;
const readings = new Map<string, Reading>();

function readingOf(condition: string): Reading {
  const known = readings.get(condition);
  if (known !== undefined) return known;
  const isReadable = typeof parsed(condition) !== 'string';
  const ast = isReadable ? environment.parse(condition).ast : undefined;
  const reading = {
    isPlain: ast === undefined || isPlainNode(ast),
    paths: ast === undefined ? [] : pathsIn(ast),
    board: ast === undefined ? [] : boardNamesIn(ast),
  };
  if (readings.size >= READINGS_MAX) readings.delete(readings.keys().next().value ?? '');
  readings.set(condition, reading);
  return reading;
}
