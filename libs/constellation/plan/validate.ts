import {
  ExecCliResult,
  inputField,
  inputTask,
  type Issue,
  type Json,
  LIMITS,
  parseWith,
  StdinFrom,
  type TaskConstellation,
  type TaskInput,
  type TaskStar,
} from '#proto';
import { referenceIn } from '../board/index.js';
import { listOfIds } from '../values/index.js';
import { findCycle } from './acyclic.js';
import { boardNamesReadBy, checkCondition } from './condition.js';
import { SEVERAL_DEVICES } from './condition-types.js';
import { checkFiles } from './files.js';
import { graphOfConstellation } from './graph.js';
import { checkWhere } from './where.js';

const ISSUES_MAX = 20;

/**
 * Structural faults of a constellation, each with the path of the offending field and what would be valid; empty when it
 * may run. What the wire schema can say (types, ranges, unknown fields) has been checked before.
 */
export function validateConstellation(constellation: TaskConstellation): Issue[] {
  const issues = [...duplicates(constellation), ...danglingLines(constellation), ...conditions(constellation)];
  if (issues.length === 0) issues.push(...cycle(constellation), ...inputs(constellation), ...replaced(constellation));
  return issues.slice(0, ISSUES_MAX);
}

function* duplicates({ tasks, lines }: TaskConstellation): Generator<Issue> {
  for (const [kind, items] of [
    ['tasks', tasks],
    ['lines', lines],
  ] as const) {
    const firstAt = new Map<string, number>();
    for (const [index, { id }] of items.entries()) {
      const first = firstAt.get(id);
      if (first === undefined) firstAt.set(id, index);
      else
        yield {
          path: `${kind}[${index}].id`,
          message: `"${id}" is already the id of ${kind}[${first}]; ids must be unique`,
        };
    }
  }
}

function* danglingLines({ tasks, lines }: TaskConstellation): Generator<Issue> {
  const known = new Set(tasks.map(({ id }) => id));
  for (const [index, line] of lines.entries()) {
    for (const end of ['from', 'to'] as const) {
      if (!known.has(line[end])) {
        yield {
          path: `lines[${index}].${end}`,
          message: `there is no task "${line[end]}"; known are ${listOfIds([...known])}`,
        };
      }
    }
  }
}

/** What is wrong with the condition that a task has to meet at its end; undefined when nothing is. */
export function checkVerification({ verify, command }: TaskStar, patterns: PatternCount): string | undefined {
  const { tool } = verify?.command ?? command ?? {};
  if (verify?.condition !== undefined && readsBoard(verify.condition)) {
    return 'the condition of verify is judged where the task runs, and reads no board; a line can have it';
  }
  const wrong = verify?.condition === undefined ? undefined : patterns.check(verify.condition, tool);
  return wrong === undefined ? undefined : `the condition ${wrong}`;
}

const readsBoard = (condition: string): boolean => boardNamesReadBy(condition)?.length !== 0;

/** Counts conditions that have a pattern, and says so when there are too many; the ones beyond are not looked at. */
export class PatternCount {
  #count = 0;

  check(condition: string, tool?: string): string | undefined {
    return this.#tooMany(condition) ?? checkCondition(condition, tool);
  }

  /** The same of what a selector asks of devices. */
  checkWhere(where: string): string | undefined {
    return this.#tooMany(where) ?? checkWhere(where);
  }

  #tooMany(condition: string): string | undefined {
    if (!/\bmatches\b/u.test(condition) || ++this.#count <= LIMITS.patternsMax) return undefined;
    return `uses matches, which at most ${LIMITS.patternsMax} conditions may at a time`;
  }
}

function* conditions({ tasks, lines }: TaskConstellation): Generator<Issue> {
  const patterns = new PatternCount();
  const tools = new Map(tasks.map((task) => [task.id, answererOf(task)]));
  for (const [index, { condition, from }] of lines.entries()) {
    const wrong = condition === undefined ? undefined : patterns.check(condition, tools.get(from));
    if (wrong !== undefined) yield { path: `lines[${index}].condition`, message: `the condition ${wrong}` };
  }
  for (const [index, task] of tasks.entries()) {
    const wrong = checkVerification(task, patterns);
    if (wrong !== undefined) yield { path: `tasks[${index}].verify.condition`, message: wrong };
    const where = checkSelector(task, patterns);
    if (where !== undefined) yield { path: `tasks[${index}].target.where`, message: where };
    const forEach = checkForEach(task);
    if (forEach !== undefined) yield { path: `tasks[${index}].forEach`, message: forEach };
  }
}

/** Who gives the result of a task, as far as its fields are known by that. */
export function answererOf({ command, forEach }: Pick<TaskStar, 'command' | 'forEach'>): string | undefined {
  return forEach === undefined ? command?.tool : SEVERAL_DEVICES;
}

/** What is wrong with a task being for several devices; undefined when nothing is. */
export function checkForEach({
  target,
  forEach,
  board,
}: Pick<TaskStar, 'target' | 'forEach' | 'board'>): string | undefined {
  if (forEach === undefined) return undefined;
  if ('device' in target)
    return `forEach is for the devices that a selector means, and the target is the device "${target.device}"; give target a selector, or leave forEach out`;
  if (board === undefined) return undefined;
  return 'what runs on several devices has a result of each, and writes none of them on the board; a task after it can';
}

/** What is wrong with what a task asks of devices; undefined when nothing is. */
export function checkSelector({ target }: Pick<TaskStar, 'target'>, patterns: PatternCount): string | undefined {
  if ('device' in target || target.where === undefined) return undefined;
  const wrong = patterns.checkWhere(target.where);
  return wrong === undefined ? undefined : `where ${wrong}`;
}

function* cycle(constellation: TaskConstellation): Generator<Issue> {
  const found = findCycle(graphOfConstellation(constellation));
  if (found === undefined) return;
  const path = [...found, found[0]].join(' -> ');
  yield { path: 'lines', message: `the lines form a cycle: ${path}; a constellation must be acyclic` };
}

/** A task may take the outputs of its direct predecessors only: those are there when it starts. */
function* inputs({ tasks, lines }: TaskConstellation): Generator<Issue> {
  const stars = new Map(tasks.map((task) => [task.id, task]));
  const predecessors = new Map<string, Map<string, TaskStar>>();
  for (const { from, to } of lines) {
    const star = stars.get(from);
    if (star !== undefined) predecessors.set(to, (predecessors.get(to) ?? new Map<string, TaskStar>()).set(from, star));
  }
  for (const [index, task] of tasks.entries()) {
    const before = predecessors.get(task.id) ?? new Map<string, TaskStar>();
    yield* strangers(task.id, task.inputs ?? [], before, `tasks[${index}].inputs`);
    yield* checkFiles(task, before).map(({ path, message }) => ({ path: `tasks[${index}].${path}`, message }));
    const stdin = task.command?.arguments['stdin'];
    if (!takesOutputs(stdin)) continue;
    const path = `tasks[${index}].command.arguments.stdin`;
    const parsed = parseStdin(stdin);
    if (parsed.ok) yield* strangers(task.id, parsed.value.from, before, `${path}.from`);
    else yield { path: `${path}${parsed.at}`, message: parsed.message };
  }
}

/** What stands in for another task from the beginning: there has to be one, and another one. */
function* replaced({ tasks }: TaskConstellation): Generator<Issue> {
  const known = new Set(tasks.map(({ id }) => id));
  for (const [index, { id, replaces = [] }] of tasks.entries()) {
    for (const [at, other] of replaces.entries()) {
      if (other !== id && known.has(other)) continue;
      const others = listOfIds([...known].filter((one) => one !== id));
      const message = `"${id}" can replace another task of this constellation, not "${other}"; those are ${others}`;
      yield { path: `tasks[${index}].replaces[${at}]`, message };
    }
  }
}

function* strangers(
  taskId: string,
  taken: readonly TaskInput[],
  before: ReadonlyMap<string, TaskStar | undefined>,
  path: string,
): Generator<Issue> {
  for (const [position, input] of taken.entries()) {
    const id = inputTask(input);
    const unknown = before.has(id) ? unknownField(input, before.get(id)) : undefined;
    if (unknown !== undefined) yield { path: `${path}[${position}].field`, message: unknown };
    if (before.has(id)) continue;
    yield {
      path: `${path}[${position}]`,
      message: `"${id}" is not a predecessor of "${taskId}"; its predecessors are ${listOfIds([...before.keys()])}`,
    };
  }
}

/** What is wrong with the field that is taken of this predecessor, as far as the result of its tool is known beforehand. */
export function unknownField(input: TaskInput, source: TaskStar | undefined): string | undefined {
  const field = inputField(input);
  if (field === undefined || source?.command?.tool !== 'EXEC_CLI') return undefined;
  const [name = ''] = field.split('.');
  const known = Object.keys(ExecCliResult.shape);
  if (known.includes(name)) return undefined;
  return `the result of EXEC_CLI has no field "${name}"; it has ${known.join(', ')}`;
}

export const STDIN_FORMS = 'a text, {"from": [predecessors]}, {"board": name} or {"secret": name}';

type ParsedStdin =
  | { readonly ok: true; readonly value: StdinFrom }
  /** `at`: the path of the wrong part within it. */
  | { readonly ok: false; readonly at: string; readonly message: string };

/** A `stdin` that takes outputs. One that means something else is told what it may be. */
export function parseStdin(stdin: Json | undefined): ParsedStdin {
  const parsed = parseWith(StdinFrom, stdin);
  if (parsed.ok) return parsed;
  const [wrong] = parsed.issues;
  const isInput = wrong !== undefined && wrong.path.startsWith('from[');
  return isInput
    ? { ok: false, at: `.${wrong.path}`, message: wrong.message }
    : { ok: false, at: '', message: `stdin is ${STDIN_FORMS}` };
}

/** False for a text, nothing, a value of the board, and a secret of the device, which need nobody's output. */
export function takesOutputs(stdin: Json | undefined): boolean {
  if (stdin === undefined || stdin === null || typeof stdin === 'string') return false;
  if (typeof stdin !== 'object' || Array.isArray(stdin)) return true;
  if (referenceIn(stdin) !== undefined) return false;
  const [name, ...others] = Object.keys(stdin);
  return !(name === 'secret' && others.length === 0 && typeof stdin['secret'] === 'string');
}
