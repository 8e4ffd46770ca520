// `expect` as specs have it. For every value Jest makes all its matchers, ten times over, which takes longer than most of what they judge:
// of a property that looks at each of ten thousand states, a quarter. What plainly holds is passed at once; everything else, and every
// failure, is Jest's own.

const DEPTH_MAX = 50;

/** Of what JSON can hold, and undefined. False of anything else, and where nobody knows without a closer look. */
export function isPlainlySame(one, other, depth = 0) {
  if (Object.is(one, other)) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  const kind = Object.getPrototypeOf(one);
  if (kind !== Object.getPrototypeOf(other) || depth > DEPTH_MAX) return false;
  if (kind !== Object.prototype && kind !== Array.prototype) return false;
  const keys = Object.keys(one);
  return (
    one.length === other.length &&
    keys.length === Object.keys(other).length &&
    Object.getOwnPropertySymbols(one).length + Object.getOwnPropertySymbols(other).length === 0 &&
    keys.every((key) => Object.hasOwn(other, key) && isPlainlySame(one[key], other[key], depth + 1))
  );
}

/** The same where `one` has whatever `other` has: objects may have more, lists may not. */
export function hasPlainly(one, other, depth = 0) {
  if (Object.is(one, other)) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  const kind = Object.getPrototypeOf(other);
  if (kind !== Object.getPrototypeOf(one) || depth > DEPTH_MAX) return false;
  if (kind !== Object.prototype && kind !== Array.prototype) return false;
  return (
    one.length === other.length &&
    Object.getOwnPropertySymbols(other).length === 0 &&
    (kind === Object.prototype || Object.keys(other).length === other.length) &&
    Object.keys(other).every((key) => Object.hasOwn(one, key) && hasPlainly(one[key], other[key], depth + 1))
  );
}

/** An element of a list, or a part of a text. */
const contains = (one, other) =>
  Array.isArray(one)
    ? one.indexOf(other) !== -1
    : typeof one === 'string' && typeof other === 'string' && one.includes(other);

const hasLength = (one, length) => (Array.isArray(one) || typeof one === 'string') && one.length === length;

const isObject = (one) => typeof one === 'object' && one !== null;

const areNumbers = (one, other) => typeof one === 'number' && typeof other === 'number';

/** By matcher: with how many arguments, and whether it plainly holds. */
const HOLDS = new Map([
  ['toBe', [1, Object.is]],
  ['toEqual', [1, (one, other) => isPlainlySame(one, other)]],
  ['toStrictEqual', [1, (one, other) => isPlainlySame(one, other)]],
  ['toMatchObject', [1, (one, other) => isObject(other) && hasPlainly(one, other)]],
  ['toContain', [1, contains]],
  ['toHaveLength', [1, hasLength]],
  ['toBeNull', [0, (one) => one === null]],
  ['toBeUndefined', [0, (one) => one === undefined]],
  ['toBeDefined', [0, (one) => one !== undefined]],
  ['toBeGreaterThan', [1, (one, other) => areNumbers(one, other) && one > other]],
  ['toBeGreaterThanOrEqual', [1, (one, other) => areNumbers(one, other) && one >= other]],
  ['toBeLessThan', [1, (one, other) => areNumbers(one, other) && one < other]],
  ['toBeLessThanOrEqual', [1, (one, other) => areNumbers(one, other) && one <= other]],
]);

/** What is awaited says where it was called: Jest writes that down each time, for all of its matchers. Nobody else needs it. */
const SAYS_WHERE = new Set(['resolves', 'rejects']);

function ofJest(expect, given, name) {
  if (SAYS_WHERE.has(name)) return expect(...given)[name];
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return expect(...given)[name];
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function matcherOf(expect, given, name) {
  const [count, holds] = HOLDS.get(name) ?? [];
  if (holds === undefined || given.length !== 1) return ofJest(expect, given, name);
  return function matcher(...expected) {
    if (expected.length === count && holds(given[0], ...expected)) return;
    try {
      ofJest(expect, given, name)(...expected);
    } catch (error) {
      Error.captureStackTrace(error, matcher); // the line is that of the spec
      throw error;
    }
  };
}

export const quick = (expect) =>
  new Proxy(expect, {
    apply: (_, __, given) => new Proxy({}, { get: (___, name) => matcherOf(expect, given, name) }),
  });
