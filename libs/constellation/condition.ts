import { Environment, type ASTNode } from '@marcbachmann/cel-js';
import { type Json, LIMITS, type TaskStatus } from '#proto';

/** What a condition is evaluated over: how its predecessor ended and what it answered. */
export interface ConditionScope {
  readonly status: TaskStatus;
  readonly result: Json;
}

export type ConditionValue = { readonly satisfied: true } | { readonly satisfied: false; readonly reason: string };

// Conditions come from outside: the syntax tree is bounded, `matches` (a backtracking regular expression) is not
// available, and one comprehension may not stand inside another, so that a condition is linear in the size of a result.
const environment = new Environment({
  unlistedVariablesAreDyn: false,
  limits: { maxAstNodes: 200, maxDepth: 30, maxListElements: 50, maxMapEntries: 50 },
})
  .registerVariable('status', 'string')
  .registerVariable('result', 'dyn');

const COMPREHENSIONS = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

/** Says in one sentence what is wrong with a condition; undefined when it parses and could be true or false. */
export function checkCondition(condition: string): string | undefined {
  if (condition.length > LIMITS.conditionCharsMax) return `is longer than ${LIMITS.conditionCharsMax} characters`;
  try {
    const expression = environment.parse(condition);
    const forbidden = forbiddenCall(expression.ast, 0);
    if (forbidden !== undefined) return forbidden;
    const { valid, type, error } = expression.check();
    if (!valid) return `is not valid CEL: ${firstLine(error)} (the variables are status and result)`;
    if (type !== 'bool' && type !== 'dyn') return `must be true or false, but is of type ${String(type)}`;
    return undefined;
  } catch (error) {
    return `is not valid CEL: ${firstLine(error)}`;
  }
}

/** False, an error and a missing field all mean not satisfied, each with its reason. Total: never throws. */
export function evaluateCondition(condition: string, scope: ConditionScope): ConditionValue {
  const wrong = checkCondition(condition);
  if (wrong !== undefined) return { satisfied: false, reason: `the condition ${wrong}` };
  try {
    const value: unknown = environment.evaluate(condition, {
      status: scope.status,
      result: integersAsBigInt(scope.result),
    });
    if (value === true) return { satisfied: true };
    return {
      satisfied: false,
      reason: `the condition ${condition} is ${value === false ? 'false' : 'neither true nor false'}`,
    };
  } catch (error) {
    return { satisfied: false, reason: `the condition ${condition} could not be evaluated: ${firstLine(error)}` };
  }
}

function forbiddenCall(node: ASTNode, comprehensions: number): string | undefined {
  const { op, args } = node as { op: string; args: unknown };
  const name = (op === 'call' || op === 'rcall') && Array.isArray(args) ? String(args[0]) : undefined;
  if (name === 'matches')
    return 'uses matches, which is not available: compare, or use contains, startsWith or endsWith';
  const depth = comprehensions + (name !== undefined && COMPREHENSIONS.has(name) ? 1 : 0);
  if (depth > 1) return 'has a comprehension (all, exists, map, filter) inside another, which is not available';
  for (const child of childrenOf(args)) {
    const forbidden = forbiddenCall(child, depth);
    if (forbidden !== undefined) return forbidden;
  }
  return undefined;
}

function childrenOf(args: unknown): ASTNode[] {
  if (Array.isArray(args)) return args.flatMap(childrenOf);
  return typeof args === 'object' && args !== null && 'op' in args ? [args as ASTNode] : [];
}

/** CEL tells integers from doubles: JSON's integers are handed over as integers, or `exit_code + 1` would be an error. */
function integersAsBigInt(value: Json): unknown {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(integersAsBigInt);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, integersAsBigInt(field)]));
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
}
