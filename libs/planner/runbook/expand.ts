import {
  isObject,
  pathOf,
  type DeviceId,
  type Issue,
  type Json,
  type RunbookDependency,
  type RunbookFile,
  type RunbookTask,
  type TaskInput,
} from '#proto';
import { mapTexts, placeOf, textsIn } from './places.js';
import { onlyPlaceholder, piecesOf, rendered, typedValue, type Values } from './placeholders.js';

/** A plan in the words of tools before it is checked, and which item of the file each of its items was made of. */
export interface Expanded {
  readonly config: { readonly tasks: readonly Json[]; readonly dependencies: readonly Json[] };
  readonly taskOrigins: readonly number[];
  readonly dependencyOrigins: readonly number[];
}

const ID_CHARS_MAX = 64;

/** A task that is not there keeps its name, under which it is missed. */
const itself = (id: string): Made => new Map([[null, id]]);

/** What a template with `for_each` became: the id of its task on each device; of one without, the one task. */
type Made = ReadonlyMap<DeviceId | null, string>;

/**
 * Puts values in and makes one task of every template, or one for every device of a template with `for_each`. A dependency
 * between two such templates joins the tasks of the same device; between one and another task it joins all of them to it.
 */
export function expand(
  { constellation }: RunbookFile,
  values: Values,
  devicesOf: (index: number) => readonly DeviceId[],
): Expanded {
  const taskIds = new Names();
  const made = new Map<string, Made>();
  for (const [index, task] of constellation.tasks.entries()) {
    const id = task.task_id;
    const devices = task.for_each === undefined ? [null] : devicesOf(index);
    made.set(id, new Map(devices.map((device) => [device, taskIds.make(id, device)])));
  }
  const tasks: Json[] = [];
  const taskOrigins: number[] = [];
  for (const [index, task] of constellation.tasks.entries()) {
    for (const [device, id] of made.get(task.task_id) ?? []) {
      tasks.push(taskOf(task, { id, device, values, made }));
      taskOrigins.push(index);
    }
  }
  const lineIds = new Names();
  const dependencies: Json[] = [];
  const dependencyOrigins: number[] = [];
  for (const [index, dependency] of constellation.dependencies.entries()) {
    const { from_task_id: from, to_task_id: to } = dependency;
    for (const pair of pairsOf(made.get(from) ?? itself(from), made.get(to) ?? itself(to))) {
      const id = lineIds.make(dependency.dependency_id, pair.device);
      dependencies.push(dependencyOf(dependency, { ...pair, id, values }));
      dependencyOrigins.push(index);
    }
  }
  return { config: { tasks, dependencies }, taskOrigins, dependencyOrigins };
}

interface TaskParts {
  readonly id: string;
  readonly device: DeviceId | null;
  readonly values: Values;
  readonly made: ReadonlyMap<string, Made>;
}

function taskOf(template: RunbookTask, { id, device, values, made }: TaskParts): Json {
  const own: Values = device === null ? values : new Map([...values, ['device.id', device]]);
  const idsOf = (named: readonly string[]): string[] => named.flatMap((one) => idsFor(made.get(one), one, device));
  const { for_each: _, inputs, files, replaces, ...fields } = template;
  const task = {
    ...objectOf(fields, own),
    task_id: id,
    ...(device === null ? {} : { target_device_id: device }),
    ...(inputs === undefined ? {} : { inputs: inputsOf(inputs, idsOf) }),
    ...(files === undefined ? {} : { files: filesFor(files, own, idsOf) }),
    ...(replaces === undefined ? {} : { replaces: idsOf(replaces) }),
  };
  return withStdin(task, idsOf);
}

/** In a task of a device it is that device's; in another one it is all of them. */
function idsFor(made: Made | undefined, named: string, device: DeviceId | null): readonly string[] {
  if (made === undefined) return [named];
  const same = device === null ? undefined : made.get(device);
  return same === undefined ? [...made.values()] : [same];
}

type IdsOf = (named: readonly string[]) => string[];

/** The same files of each task that was made of the named one, at the same place. */
function filesFor(template: NonNullable<RunbookTask['files']>, values: Values, idsOf: IdsOf): Json {
  const { files } = objectOf({ files: template }, values);
  if (!isObject(files) || !Array.isArray(files['in'])) return files ?? {};
  const taken = files['in'].flatMap((input): Json[] => {
    if (typeof input === 'string') return idsOf([input]);
    if (!isObject(input) || typeof input['from'] !== 'string') return [input];
    return idsOf([input['from']]).map((from) => ({ ...input, from }));
  });
  return { ...files, in: taken };
}

/** Steers which files are meant, or where they lie: a value is a name, or a part of one. */
const STEERS_FILES = /[/*?]/u;

/** Values that would be more than a name in the files of a task, with their places in it. */
export function steeringValues({ files }: RunbookTask, values: Values): Issue[] {
  return [...textsIn(files ?? {}, ['files'])].flatMap(({ path, text }) => {
    const parsed = piecesOf(text);
    const placeholders = parsed.ok ? parsed.pieces.filter((piece) => piece.kind === 'placeholder') : [];
    return placeholders.flatMap(({ name }): Issue[] => {
      const value = values.get(name);
      if (typeof value !== 'string' || !STEERS_FILES.test(value)) return [];
      const shown = JSON.stringify(value.slice(0, SHOWN_CHARS_MAX));
      const message = `{{ ${name} }} is ${shown} here, and stands in the name of a file: it has no "/", "*" or "?"`;
      return [{ path: pathOf(path), message }];
    });
  });
}

const SHOWN_CHARS_MAX = 100;

/** The same field of each task that was made of the named one. */
function inputsOf(named: readonly TaskInput[], idsOf: IdsOf): Json[] {
  return named.flatMap((input) => {
    if (typeof input === 'string') return idsOf([input]);
    return isObject(input) ? idsOf([input.task]).map((task) => ({ ...(input as object), task })) : [input as Json];
  });
}

function withStdin(task: Record<string, Json>, idsOf: IdsOf): Json {
  const { command } = task;
  if (!isObject(command) || !isObject(command['arguments'])) return task;
  const { stdin } = command['arguments'];
  if (!isObject(stdin) || !Array.isArray(stdin['from'])) return task;
  const from = inputsOf(stdin['from'] as readonly TaskInput[], idsOf);
  return { ...task, command: { ...command, arguments: { ...command['arguments'], stdin: { ...stdin, from } } } };
}

interface Pair {
  readonly from: string;
  readonly to: string;
  readonly device: DeviceId | null;
}

function pairsOf(from: Made, to: Made): Pair[] {
  const pairs: Pair[] = [];
  for (const [device, id] of from) {
    for (const [other, toId] of to) {
      if (device !== null && other !== null && device !== other) continue;
      pairs.push({ from: id, to: toId, device: device ?? other });
    }
  }
  return pairs;
}

interface DependencyParts extends Pair {
  readonly id: string;
  readonly values: Values;
}

function dependencyOf(template: RunbookDependency, { id, from, to, values }: DependencyParts): Json {
  return { ...objectOf(template, values), dependency_id: id, from_task_id: from, to_task_id: to };
}

function objectOf(template: object, values: Values): Record<string, Json> {
  const made = mapTexts(template, (text, path) => {
    const parsed = piecesOf(text);
    if (!parsed.ok) return text;
    const only = placeOf(path) === 'value' ? onlyPlaceholder(parsed.pieces) : undefined;
    return only === undefined ? rendered(parsed.pieces, values) : typedValue(only, values);
  });
  return isObject(made) ? made : {};
}

/** A selector of the file with its values. */
export function selectorOf(template: object, values: Values): Json {
  return objectOf({ for_each: template }, values)['for_each'] ?? {};
}

/** `<id>-<device>`, within what an id may have and never the same twice. */
class Names {
  readonly #used = new Set<string>();

  make(id: string, device: DeviceId | null): string {
    const wanted = (device === null ? id : `${id}-${device}`).slice(0, ID_CHARS_MAX);
    let name = wanted;
    for (let count = 2; this.#used.has(name); count++) {
      const ending = `-${count}`;
      name = `${wanted.slice(0, ID_CHARS_MAX - ending.length)}${ending}`;
    }
    this.#used.add(name);
    return name;
  }
}
