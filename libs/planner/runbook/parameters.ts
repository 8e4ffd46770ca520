import { DeviceId, type Issue, type Json, RUNBOOK_LIMITS, type RunbookParameter } from '#proto';
import { compilePattern } from './pattern.js';

export type Checked =
  | { readonly ok: true; readonly values: ReadonlyMap<string, Json> }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** The values of a runbook's parameters, defaults put in, or what is wrong with each, with its path and what would be valid. */
export function checkParameters(
  name: string,
  parameters: readonly RunbookParameter[],
  given: Readonly<Record<string, Json>>,
): Checked {
  const known = parameters.map((parameter) => parameter.name);
  const issues: Issue[] = Object.keys(given)
    .filter((key) => !known.includes(key))
    .map((key) => ({
      path: `parameters.${key}`,
      message: `unknown; "${name}" takes ${known.length === 0 ? 'none' : known.join(', ')}`,
    }));
  const values = new Map<string, Json>();
  for (const parameter of parameters) {
    const value = (Object.hasOwn(given, parameter.name) ? given[parameter.name] : undefined) ?? parameter.default;
    const path = `parameters.${parameter.name}`;
    if (value === undefined) {
      if (parameter.required)
        issues.push({ path, message: `is needed: ${parameter.description} (${wanted(parameter)})` });
      continue;
    }
    const checked = valueOf(parameter, value);
    if (checked === undefined) issues.push({ path, message: `must be ${wanted(parameter)}, not ${shown(value)}` });
    else values.set(parameter.name, checked);
  }
  return issues.length === 0 ? { ok: true, values } : { ok: false, issues };
}

/** The value with the type of its parameter, from JSON or from words of a goal; undefined when it is none. */
export function valueOf(parameter: RunbookParameter, given: Json): Json | undefined {
  const value = typed(parameter, given);
  if (value === undefined) return undefined;
  if (typeof value === 'number') {
    const { minimum = -Infinity, maximum = Infinity } = parameter;
    return value >= minimum && value <= maximum ? value : undefined;
  }
  if (typeof value === 'string') {
    if (parameter.enum !== undefined && !parameter.enum.includes(value)) return undefined;
    return parameter.pattern === undefined || fits(parameter.pattern, value) ? value : undefined;
  }
  return value;
}

function typed({ type }: RunbookParameter, given: Json): string | number | boolean | undefined {
  switch (type) {
    case 'string':
      return typeof given === 'string' && isText(given) ? given : undefined;
    case 'device':
      return DeviceId.safeParse(given).data;
    case 'integer':
    case 'number': {
      const value = typeof given === 'string' ? numberOf(given) : given;
      if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
      return type === 'number' || Number.isSafeInteger(value) ? value : undefined;
    }
    case 'boolean':
      if (typeof given === 'boolean') return given;
      return typeof given === 'string' ? BOOLEANS.get(given.toLowerCase()) : undefined;
  }
}

const BOOLEANS = new Map([
  ['true', true],
  ['yes', true],
  ['false', false],
  ['no', false],
]);

/** No variable and no argument of a program can hold a NUL. */
const isText = (text: string): boolean => text.length <= RUNBOOK_LIMITS.valueCharsMax && !text.includes('\0');

const numberOf = (text: string): number | undefined =>
  /^[+-]?\d{1,15}(?:\.\d{1,15})?$/u.test(text) ? Number(text) : undefined;

function fits(source: string, text: string): boolean {
  const compiled = compilePattern(source);
  return compiled.ok && compiled.pattern.fits(text);
}

/** What is wrong with a definition itself; the path is one inside of the parameter. */
export function checkDefinition(parameter: RunbookParameter): Issue[] {
  const { type, pattern, minimum, maximum } = parameter;
  const issues: Issue[] = [];
  const say = (path: string, message: string): void => void issues.push({ path, message });
  if (type !== 'string') {
    for (const field of ['pattern', 'enum'] as const) {
      if (parameter[field] !== undefined) say(field, 'belongs to the type string');
    }
  }
  if (type !== 'integer' && type !== 'number') {
    for (const field of ['minimum', 'maximum'] as const) {
      if (parameter[field] !== undefined) say(field, 'belongs to the types integer and number');
    }
  }
  if (minimum !== undefined && maximum !== undefined && minimum > maximum) say('minimum', 'is above the maximum');
  const compiled = pattern === undefined ? undefined : compilePattern(pattern);
  if (compiled?.ok === false) say('pattern', compiled.message);
  if (parameter.default === undefined || compiled?.ok === false) return issues;
  if (parameter.required) say('required', 'a parameter with a default is never missing; leave one of them out');
  if (valueOf(parameter, parameter.default) === undefined) say('default', `must be ${wanted(parameter)}`);
  return issues;
}

/** What would be valid, in words. */
export function wanted({ type, enum: among, pattern, minimum, maximum }: RunbookParameter): string {
  switch (type) {
    case 'string':
      if (among !== undefined) return `one of ${among.join(', ')}`;
      return pattern === undefined ? 'a text' : `a text that fits ${pattern}`;
    case 'device':
      return 'the id of a device';
    case 'boolean':
      return 'true or false';
    case 'integer':
    case 'number': {
      const what = type === 'integer' ? 'a whole number' : 'a number';
      if (minimum !== undefined && maximum !== undefined) return `${what} from ${minimum} to ${maximum}`;
      if (minimum !== undefined) return `${what} of at least ${minimum}`;
      return maximum === undefined ? what : `${what} of at most ${maximum}`;
    }
  }
}

const SHOWN_MAX = 60;

function shown(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}...` : text;
}
