import { type Issue, type Json, RUNBOOK_LIMITS, type RunbookParameter } from '#proto';
import type { GoalPattern, Runbook } from './runbook.js';
import { checkParameters, valueOf } from './parameters.js';

export interface MatchedRunbook {
  readonly runbook: Runbook;
  readonly parameters: Readonly<Record<string, Json>>;
}

/** Why a goal that means a runbook cannot be planned with it. */
export interface MatchIssues {
  readonly issues: readonly Issue[];
}

/**
 * The runbook that a goal means: by its name, followed by nothing or by `key=value` words; or because one of its patterns fits
 * the whole goal. Null when none does. A name with parameters that are wrong, and a goal that fits two runbooks, are issues:
 * somebody meant a runbook, and guessing is not what runbooks are for.
 */
export function matchGoal(goal: string, runbooks: readonly Runbook[]): MatchedRunbook | MatchIssues | null {
  const called = matchName(goal.trim(), runbooks);
  if (called !== null) return called;
  const plain = plainGoal(goal);
  const fitting = runbooks.flatMap((runbook) => {
    const parameters = firstFit(plain, runbook);
    return parameters === undefined ? [] : [{ runbook, parameters }];
  });
  const [first, second] = fitting;
  if (first === undefined) return null;
  if (second === undefined) return first;
  const names = fitting.map(({ runbook }) => runbook.info.name).join(' and ');
  return {
    issues: [{ path: 'goal', message: `it fits the runbooks ${names}; begin with the name of the one you mean` }],
  };
}

const NAME = /^([A-Za-z][A-Za-z0-9-]{0,63})(?=\s|$)/u;
const WORD = /([^\s="']+)=("(?:[^"\\]|\\.)*"|'[^']*'|[^\s"']\S*|)(?=\s|$)|(\S+)/gsu;

function matchName(goal: string, runbooks: readonly Runbook[]): MatchedRunbook | MatchIssues | null {
  const [, name = ''] = NAME.exec(goal) ?? [];
  const runbook = runbooks.find(({ info }) => info.name === name.toLowerCase());
  if (runbook === undefined) return null;
  const given = new Map<string, Json>();
  const issues: Issue[] = [];
  const others: string[] = [];
  for (const [, key, value = '', other] of goal.slice(name.length).matchAll(WORD)) {
    if (key === undefined) others.push(other ?? '');
    else if (given.has(key)) issues.push({ path: `parameters.${key}`, message: 'is given twice' });
    else given.set(key, unquoted(value));
  }
  // Words alone make a sentence that begins like a name.
  if (others.length > 0 && given.size === 0) return null;
  for (const word of others) {
    issues.push({ path: 'goal', message: `"${word}" is not key=value; a value with spaces is quoted: key="a b"` });
  }
  const { info } = runbook;
  const checked = checkParameters(info.name, info.parameters, Object.fromEntries(given));
  if (!checked.ok) issues.push(...checked.issues);
  return issues.length > 0 || !checked.ok ? { issues } : { runbook, parameters: Object.fromEntries(checked.values) };
}

function unquoted(text: string): string {
  const [quote] = text;
  if (quote === "'") return text.slice(1, -1);
  return quote === '"' ? text.slice(1, -1).replaceAll(/\\(["\\])/gu, '$1') : text;
}

/** One space between words, and no full stop: people write goals as sentences. */
const plainGoal = (goal: string): string =>
  goal
    .trim()
    .replaceAll(/\s+/gu, ' ')
    .replace(/ ?[.!?]$/u, '');

function firstFit(goal: string, { info, patterns }: Runbook): Record<string, Json> | undefined {
  for (const pattern of patterns) {
    const found = fitGoal(pattern, goal);
    if (found === undefined) continue;
    const entries = [...found].map(([name, text]) => {
      const parameter = info.parameters.find((one) => one.name === name);
      return [name, parameter === undefined ? undefined : valueOf(parameter, text)] as const;
    });
    const values = entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
    if (values.length < entries.length) continue;
    const checked = checkParameters(info.name, info.parameters, Object.fromEntries(values));
    if (checked.ok) return Object.fromEntries(checked.values);
  }
  return undefined;
}

export type GoalPatternOf =
  { readonly ok: true; readonly pattern: GoalPattern } | { readonly ok: false; readonly message: string };

const LETTERS_MIN = 4;

/** Reads one of the `matches` of a runbook; the message says what is wrong with it. */
export function goalPatternOf(source: string, parameters: readonly RunbookParameter[]): GoalPatternOf {
  const text = plainGoal(source);
  const texts = text.split(/\{[^{}]*\}/u).map((part) => part.toLowerCase());
  const names = [...text.matchAll(/\{([^{}]*)\}/gu)].map(([, name = '']) => name);
  const known = parameters.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  const fail = (message: string) => ({ ok: false, message }) as const;
  if (/[{}]/u.test(texts.join(''))) return fail('a brace is missing; a parameter is written {name}');
  if (unknown !== undefined) return fail(`there is no parameter "${unknown}"; known are ${known.join(', ') || 'none'}`);
  if (new Set(names).size < names.length) return fail('a parameter may stand there once');
  if (names.length > RUNBOOK_LIMITS.placeholdersMax)
    return fail(`at most ${RUNBOOK_LIMITS.placeholdersMax} parameters`);
  if (texts.slice(1, -1).some((part) => part.trim() === '')) return fail('words are needed between two parameters');
  const letters = texts.join('').match(/\p{L}/gu)?.length ?? 0;
  if (letters < LETTERS_MIN) return fail(`words of its own are needed, or every goal would fit`);
  const missing = parameters.find(({ name, required }) => required && !names.includes(name));
  if (missing !== undefined) return fail(`the parameter {${missing.name}} is required and must stand in it`);
  return { ok: true, pattern: { texts, names } };
}

/**
 * What stands in the places of the parameters; undefined when the goal is another one. Each text is looked for once, from
 * left to right, so that it takes no longer than reading the goal.
 */
function fitGoal({ texts, names }: GoalPattern, goal: string): ReadonlyMap<string, string> | undefined {
  const lower = goal.toLowerCase();
  // A letter whose small form is longer would shift everything behind it.
  const text = lower.length === goal.length ? lower : goal;
  const [head = '', ...others] = texts;
  if (!text.startsWith(head)) return undefined;
  const found = new Map<string, string>();
  let at = head.length;
  for (const [index, name] of names.entries()) {
    const part = others[index] ?? '';
    const isLast = index === names.length - 1;
    const end = isLast ? text.length - part.length : text.indexOf(part, at + 1);
    if (end <= at || !text.startsWith(part, end)) return undefined;
    found.set(name, withoutQuotes(goal.slice(at, end).trim()));
    at = end + part.length;
  }
  return at === text.length ? found : undefined;
}

const withoutQuotes = (text: string): string => text.replace(/^(["'`])(.+)\1$/su, '$2');
