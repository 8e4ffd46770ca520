import { sameJson } from '#libs/constellation';
import {
  type Issue,
  type Json,
  parseWith,
  pathOf,
  RunbookFile,
  type RunbookInfo,
  type RunbookParameter,
  type Sha256,
} from '#proto';
import type { GoalPattern, Runbook } from './runbook.js';
import { checkCommandLine, steers } from './command-line.js';
import { goalPatternOf } from './match.js';
import { checkDefinition } from './parameters.js';
import { isSecretAt, keysIn, type Path, type Place, placeOf, textsIn, variableAt } from './places.js';
import { onlyPlaceholder, type TemplatePiece, type Placeholder, piecesOf } from './placeholders.js';
import { runbookConstellation } from './plan.js';

export type ParsedRunbook =
  { readonly ok: true; readonly runbook: Runbook } | { readonly ok: false; readonly issues: readonly Issue[] };

/**
 * Reads a runbook. What can be wrong with it is found here and not when somebody needs it: fields, parameters, patterns of
 * goals, placeholders in places where a value would become code, and a constellation that could never run. `hash`: SHA-256
 * of the file.
 */
export function parseRunbook(json: unknown, hash: Sha256, source: RunbookInfo['source']): ParsedRunbook {
  const parsed = parseWith(RunbookFile, json);
  if (!parsed.ok) return parsed;
  const file = parsed.value;
  const issues = [
    ...checkDefinitions(file.parameters),
    ...checkIds(file),
    ...checkTemplates(file),
    ...checkFanOut(file),
  ];
  const patterns = patternsOf(file, issues);
  if (issues.length === 0) issues.push(...checkPlan(file));
  if (issues.length > 0) return { ok: false, issues };
  const { constellation: _, ...info } = file;
  return { ok: true, runbook: { info: { ...info, hash, source }, file, patterns } };
}

function checkDefinitions(parameters: readonly RunbookParameter[]): Issue[] {
  const names = parameters.map(({ name }) => name);
  return parameters.flatMap((parameter, index) => {
    const at = `parameters[${index}]`;
    const issues = checkDefinition(parameter).map(({ path, message }) => ({ path: `${at}.${path}`, message }));
    const first = names.indexOf(parameter.name);
    if (first === index) return issues;
    return [...issues, { path: `${at}.name`, message: `"${parameter.name}" is already parameters[${first}]` }];
  });
}

/** Tasks that are made for each device get ids of their own: two of the same would not be noticed any more. */
function checkIds({ constellation: { tasks, dependencies } }: RunbookFile): Issue[] {
  const repeated = (list: string, field: string, ids: readonly string[]): Issue[] =>
    ids.flatMap((id, index) => {
      const first = ids.indexOf(id);
      if (first === index) return [];
      const message = `"${id}" is already the id of constellation.${list}[${first}]; ids must be unique`;
      return [{ path: `constellation.${list}[${index}].${field}`, message }];
    });
  return [
    ...repeated(
      'tasks',
      'task_id',
      tasks.map((task) => task.task_id),
    ),
    ...repeated(
      'dependencies',
      'dependency_id',
      dependencies.map((dependency) => dependency.dependency_id),
    ),
  ];
}

function patternsOf({ matches, parameters }: RunbookFile, issues: Issue[]): GoalPattern[] {
  return matches.flatMap((source, index) => {
    const made = goalPatternOf(source, parameters);
    if (made.ok) return [made.pattern];
    issues.push({ path: `matches[${index}]`, message: made.message });
    return [];
  });
}

function checkTemplates({ parameters, constellation }: RunbookFile): Issue[] {
  const used = new Set<string>();
  const issues: Issue[] = [];
  for (const list of ['tasks', 'dependencies'] as const) {
    for (const [index, item] of constellation[list].entries()) {
      const scope: Scope = { parameters, isFanned: 'for_each' in item && item.for_each !== undefined, used };
      for (const { path, text } of textsIn(item)) {
        const wrong = checkText(text, path, scope);
        if (wrong === undefined) continue;
        issues.push({ path: pathOf(['constellation', list, index, ...path]), message: wrong });
      }
      for (const { path, text } of keysIn(item)) {
        if (!text.includes('{{')) continue;
        const message = `the name of a field cannot hold a placeholder: ${text}`;
        issues.push({ path: pathOf(['constellation', list, index, ...path]), message });
      }
    }
  }
  for (const [index, { name }] of parameters.entries()) {
    if (used.has(name)) continue;
    issues.push({ path: `parameters[${index}]`, message: `no placeholder {{ p.${name} }} uses it` });
  }
  return issues;
}

interface Scope {
  readonly parameters: readonly RunbookParameter[];
  /** It stands in a task that is made for each device. */
  readonly isFanned: boolean;
  readonly used: Set<string>;
}

function checkText(text: string, path: Path, scope: Scope): string | undefined {
  const parsed = piecesOf(text);
  if (!parsed.ok) return parsed.message;
  const { pieces } = parsed;
  const placeholders = pieces.filter((piece) => piece.kind === 'placeholder');
  if (placeholders.length === 0) return undefined;
  const place = placeOf(path);
  for (const placeholder of placeholders) {
    const wrong = checkPlaceholder(placeholder, { pieces, path, place, scope });
    if (wrong !== undefined) return wrong;
  }
  return place === 'shell' ? checkCommandLine(pieces) : undefined;
}

interface Where {
  readonly pieces: readonly TemplatePiece[];
  readonly path: Path;
  readonly place: Place;
  readonly scope: Scope;
}

function checkPlaceholder({ name, filter }: Placeholder, { pieces, path, place, scope }: Where): string | undefined {
  const parameter = name.startsWith('p.') ? scope.parameters.find((one) => `p.${one.name}` === name) : undefined;
  if (parameter !== undefined) scope.used.add(parameter.name);
  else if (!isBuiltIn(name, path, scope)) return `there is no {{ ${name} }} here; there are ${namesIn(path, scope)}`;
  if (filter === 'list' && (place !== 'value' || onlyPlaceholder(pieces) === undefined)) {
    return `{{ ${name} | list }} must be the whole of a value that may be a list, e.g. tags: "{{ ${name} | list }}"`;
  }
  if (place === 'condition' && !isLiteral(parameter)) {
    return `a condition takes parameters of the types integer, number and boolean that are required or have a default, not {{ ${name} }}`;
  }
  if (isSecretAt(path)) return `which secret is used is said by the runbook, not by {{ ${name} }}`;
  const variable = variableAt(path);
  if (variable !== undefined && steers(variable)) {
    return `${variable} changes what programs do and may not hold {{ ${name} }}; take another name, e.g. P_${variable}`;
  }
  return undefined;
}

/** What stands in a CEL expression as one literal and is always there. */
function isLiteral(parameter: RunbookParameter | undefined): boolean {
  if (parameter === undefined || (!parameter.required && parameter.default === undefined)) return false;
  return parameter.type === 'integer' || parameter.type === 'number' || parameter.type === 'boolean';
}

/** `for_each` is read before there are devices. */
const isSelector = ([first]: Path): boolean => first === 'for_each';

function isBuiltIn(name: string, path: Path, { isFanned }: Scope): boolean {
  if (isSelector(path)) return false;
  return name === 'fleet.devices' || name === 'fleet.left_out' || (name === 'device.id' && isFanned);
}

function namesIn(path: Path, scope: Scope): string {
  const builtIn = ['device.id', 'fleet.devices', 'fleet.left_out'].filter((name) => isBuiltIn(name, path, scope));
  const names = [...scope.parameters.map(({ name }) => `p.${name}`), ...builtIn];
  return names.length === 0 ? 'none' : names.join(', ');
}

/** Two templates that are made for each device belong together only when they are made for the same ones. */
function checkFanOut({ constellation: { tasks, dependencies } }: RunbookFile): Issue[] {
  const byId = new Map(tasks.map((task) => [task.task_id, task]));
  return dependencies.flatMap(({ from_task_id: from, to_task_id: to }, index) => {
    const [one, other] = [byId.get(from)?.for_each, byId.get(to)?.for_each];
    if (one === undefined || other === undefined || sameJson(one, other)) return [];
    const message = `"${from}" and "${to}" are made for each device and need the same for_each`;
    return [{ path: `constellation.dependencies[${index}]`, message }];
  });
}

/** Some value of each type: whatever the parameters are, the plan has this form. */
function checkPlan(file: RunbookFile): readonly Issue[] {
  const values = new Map(file.parameters.map((parameter) => [`p.${parameter.name}`, sampleOf(parameter)]));
  values.set('fleet.devices', SAMPLE_DEVICE).set('fleet.left_out', '');
  const made = runbookConstellation(file, values, () => [SAMPLE_DEVICE]);
  return made.ok ? [] : made.issues;
}

const SAMPLE_DEVICE = 'device-1';

function sampleOf(parameter: RunbookParameter): Json {
  const { type, minimum, maximum } = parameter;
  if (parameter.default !== undefined) return parameter.default;
  switch (type) {
    case 'integer':
    case 'number':
      return minimum ?? Math.min(1, maximum ?? 1);
    case 'boolean':
      return true;
    case 'device':
      return SAMPLE_DEVICE;
    case 'string':
      return parameter.enum?.[0] ?? 'sample';
  }
}
