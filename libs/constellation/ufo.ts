// UFO's constellation JSON, read here and written in ufo-export.ts. UFO says less about a task than we do: what it has no
// field for stands in `task_data.orrery` of a task and `metadata.orrery` of a line. UFO's own fields win over it, so that
// an export which was changed by UFO is read as it was changed.
import {
  DeviceId,
  LIMITS,
  LineId,
  parseWith,
  pathOf,
  TaskConstellation,
  TaskId,
  type Issue,
  type LineType,
} from '#proto';
import { checkCondition } from './condition.js';
import { listed } from './validate.js';
import {
  DEPENDENCY_TYPES,
  DEVICE_TYPES,
  isNothing,
  levelOf,
  MEDIUM,
  PRIORITIES,
  PRIORITY_VALUES,
  withoutNothing,
  type Fields,
} from './ufo-words.js';

export * from './ufo-export.js';

export type UfoImport =
  { readonly ok: true; readonly constellation: TaskConstellation } | { readonly ok: false; readonly issues: Issue[] };

const ISSUES_MAX = 20;
/** Of a key that somebody else made up, in a path. */
const KEY_CHARS_MAX = 64;

/** Whether this is meant to be a constellation of UFO and not one of ours: by the names of its fields. */
export function isUfoConstellation(json: unknown): boolean {
  if (!isObject(json) || 'lines' in json || typeof json['tasks'] !== 'object' || json['tasks'] === null) return false;
  if ('dependencies' in json || 'constellation_id' in json || !Array.isArray(json['tasks'])) return true;
  return json['tasks'].some(
    (task) => isObject(task) && ('task_id' in task || 'target_device_id' in task || 'device_type' in task),
  );
}

/**
 * Reads a constellation of UFO as a plan: what it says about a run of it (states, results, times) is passed over. Issues
 * name the field as it stands in UFO's JSON. Whether the plan may run is asked afterwards, as of every other.
 */
export function importUfo(json: unknown): UfoImport {
  if (!isObject(json)) return refused([issue([], 'a constellation of UFO is an object with tasks and dependencies')]);
  const issues: Issue[] = [];
  const tasks = itemsOf(json, TASKS, issues);
  const lines = itemsOf(json, LINES, issues);
  if (issues.length === 0 && tasks.length === 0) issues.push(issue(['tasks'], 'at least one task is needed'));
  const ids = new Set(tasks.map(({ id }) => id));
  const draft = {
    name: [json['name'], json['constellation_id']].find((text) => text !== undefined && text !== null && text !== ''),
    tasks: tasks.map((item) => starOf(item, issues)),
    lines: lines.map((item) => lineOf(item, ids, issues)),
  };
  if (issues.length > 0) return refused(issues);
  const parsed = parseWith(TaskConstellation, { ...draft, name: draft.name ?? 'constellation' });
  if (parsed.ok) return { ok: true, constellation: parsed.value };
  return refused(parsed.issues.map(({ path, message }) => ({ path: ufoPath(path, { tasks, lines }), message })));
}

/** A request, with a constellation of ours where it had one of UFO's; anything else stays as it is. */
export function withoutUfo(
  request: unknown,
): { readonly ok: true; readonly request: unknown } | { readonly ok: false; readonly issues: Issue[] } {
  if (!isObject(request) || !isUfoConstellation(request['constellation'])) return { ok: true, request };
  const imported = importUfo(request['constellation']);
  if (imported.ok) return { ok: true, request: { ...request, constellation: imported.constellation } };
  return {
    ok: false,
    issues: imported.issues.map(({ path, message }) => ({ path: `constellation.${path}`, message })),
  };
}

interface Kind {
  readonly list: string;
  readonly idField: string;
  readonly id: typeof TaskId;
  /** `task_001`, `task_002`, ...: the ids of what has none. */
  readonly prefix: string;
  readonly extras: string;
}
const TASKS: Kind = { list: 'tasks', idField: 'task_id', id: TaskId, prefix: 'task_', extras: 'task_data' };
const LINES: Kind = { list: 'dependencies', idField: 'line_id', id: LineId, prefix: 'line_', extras: 'metadata' };

/** A task or a dependency. */
interface Item {
  readonly path: readonly PropertyKey[];
  readonly id: string;
  readonly fields: Fields;
  /** What we wrote there. */
  readonly orrery: Fields;
}

/** A list, or an object by id. In the order in which they were exported, since an object puts numbers first. */
function itemsOf(json: Fields, kind: Kind, issues: Issue[]): Item[] {
  const value = json[kind.list] ?? [];
  if (typeof value !== 'object') {
    issues.push(issue([kind.list], 'must be a list, or an object by id'));
    return [];
  }
  const found = Object.entries(value).flatMap(([key, fields]: [string, unknown]) => {
    const path = [kind.list, Array.isArray(value) ? Number(key) : key.slice(0, KEY_CHARS_MAX)];
    if (!isObject(fields)) {
      issues.push(issue(path, 'must be an object'));
      return [];
    }
    const id = idOf({ path, fields, key: Array.isArray(value) ? '' : key }, kind, issues);
    return [{ path, id, fields, orrery: objectOf(objectOf(fields[kind.extras])['orrery']) }];
  });
  const firstAt = new Map<string | undefined, string>();
  for (const { id, path } of found) {
    const first = firstAt.get(id);
    if (first === undefined) firstAt.set(id, pathOf(path));
    else if (id !== undefined) {
      issues.push(issue([...path, kind.idField], `is already the id of ${first}; ids must be unique`));
    }
  }
  let number = 0;
  const nextId = (): string => {
    for (;;) {
      const id = `${kind.prefix}${String(++number).padStart(3, '0')}`;
      if (!firstAt.has(id)) return id;
    }
  };
  return found
    .map((item): Item => ({ ...item, id: item.id ?? nextId() }))
    .toSorted((one, other) => positionOf(one) - positionOf(other));
}

/** Undefined when there is none: an empty one counts as missing. */
function idOf(
  { path, fields, key }: { path: readonly PropertyKey[]; fields: Fields; key: string },
  { idField, id: schema }: Kind,
  issues: Issue[],
): string | undefined {
  const own = isNothing(fields[idField]) || fields[idField] === '' ? undefined : fields[idField];
  const id = own ?? (key === '' ? undefined : key);
  if (id === undefined) return undefined;
  if (key !== '' && id !== key) {
    issues.push(issue([...path, idField], 'must be the key that it stands under'));
    return key;
  }
  const parsed = parseWith(schema, id);
  if (parsed.ok) return parsed.value;
  issues.push(...parsed.issues.map(({ message }) => issue([...path, idField], message)));
  return typeof id === 'string' ? id : undefined;
}

function positionOf({ orrery: { position } }: Item): number {
  return typeof position === 'number' ? position : Number.MAX_SAFE_INTEGER;
}

function starOf(item: Item, issues: Issue[]): object {
  const { id, fields, orrery } = item;
  return withoutNothing({
    id,
    name: fields['name'],
    description: fields['description'] ?? fields['task_description'],
    tips: fields['tips'],
    target: targetOf(item, issues),
    command: orrery['command'],
    timeoutMs: timeoutOf(item, issues),
    deadlineMs: orrery['deadlineMs'],
    retry: retryOf(item, issues),
    priority: priorityOf(item, issues),
    idempotent: orrery['idempotent'],
    review: orrery['review'],
  });
}

function targetOf(item: Item, issues: Issue[]): unknown {
  const { fields, orrery } = item;
  const device = fields['target_device_id'];
  if (!isNothing(device) && device !== '') {
    const parsed = parseWith(DeviceId, device);
    if (!parsed.ok)
      issues.push(...parsed.issues.map(({ message }) => issue([...item.path, 'target_device_id'], message)));
    return { device };
  }
  const selector = isObject(orrery['target']) ? orrery['target'] : undefined;
  const os = choiceOf(item, 'device_type', DEVICE_TYPES, issues);
  if (os !== undefined) return { ...selector, os };
  if (selector === undefined && (isNothing(fields['device_type']) || fields['device_type'] === '')) {
    const message = `must name a device, or else device_type must be one of ${DEVICE_TYPES.join(', ')}`;
    issues.push(issue([...item.path, 'target_device_id'], message));
  }
  return selector;
}

function timeoutOf({ fields, path }: Item, issues: Issue[]): number | undefined {
  const { timeout } = fields;
  if (isNothing(timeout)) return undefined;
  const ms = typeof timeout === 'number' ? Math.round(timeout * 1_000) : Number.NaN;
  if (ms >= 100 && ms <= LIMITS.timeoutMsMax) return ms;
  const message = `must be a number of seconds from 0.1 to ${LIMITS.timeoutMsMax / 1_000}`;
  issues.push(issue([...path, 'timeout'], message));
  return undefined;
}

/** `retry_count` says how often it is tried again, our policy how often it is tried. */
function retryOf({ fields, orrery, path }: Item, issues: Issue[]): unknown {
  const { retry_count: again } = fields;
  const policy = orrery['retry'];
  if (isNothing(again)) return policy;
  if (typeof again !== 'number' || !Number.isInteger(again) || again < 0 || again >= LIMITS.attemptsMax) {
    issues.push(issue([...path, 'retry_count'], `must be a whole number from 0 to ${LIMITS.attemptsMax - 1}`));
    return undefined;
  }
  if (isNothing(policy) && again === 0) return undefined;
  return { ...objectOf(policy), attempts: again + 1 };
}

function priorityOf(item: Item, issues: Issue[]): unknown {
  const { fields, orrery } = item;
  const { priority } = fields;
  const name = typeof priority === 'number' ? PRIORITIES[priority - 1] : choiceOf(item, 'priority', PRIORITIES, issues);
  if (typeof priority === 'number' && name === undefined) {
    issues.push(issue([...item.path, 'priority'], `must be 1 to 4 or one of ${PRIORITIES.join(', ')}`));
  }
  const level = name === undefined ? MEDIUM : PRIORITIES.indexOf(name) + 1;
  const exact = orrery['priority'];
  if (typeof exact === 'number' && levelOf(exact) === level) return exact;
  return level === MEDIUM ? undefined : PRIORITY_VALUES[level - 1];
}

/**
 * `completion_only` is our unconditional line. A condition of UFO is free text: as CEL it decides, as anything else it is
 * kept for people and models, and what UFO would have asked instead, whether there was a result, decides.
 */
function lineOf(item: Item, ids: ReadonlySet<string>, issues: Issue[]): object {
  const { id, fields, orrery, path } = item;
  for (const end of ['from_task_id', 'to_task_id']) {
    const value = fields[end];
    if (typeof value === 'string' && ids.has(value)) continue;
    issues.push(issue([...path, end], `must be the id of a task; known are ${listed([...ids])}`));
  }
  const line = { id, from: fields['from_task_id'], to: fields['to_task_id'] };
  const text = fields['condition_description'];
  const type = choiceOf(item, 'dependency_type', DEPENDENCY_TYPES, issues);
  if (type === 'conditional' && typeof text === 'string' && checkCondition(text) === undefined) {
    return withoutNothing({ ...line, type, condition: text, description: orrery['description'] });
  }
  const ours: LineType = type === 'conditional' || type === 'success_only' ? 'success-only' : 'unconditional';
  return withoutNothing({ ...line, type: ours, description: text });
}

/** One of some words, in any case; undefined when nothing is said, and when what is said is none of them. */
function choiceOf<T extends string>(
  { fields, path }: Item,
  field: string,
  choices: readonly T[],
  issues: Issue[],
): T | undefined {
  const value = fields[field];
  if (isNothing(value) || value === '') return undefined;
  const word = typeof value === 'string' ? value.toLowerCase() : '';
  const choice = choices.find((each) => each === word);
  if (choice === undefined) issues.push(issue([...path, field], `must be one of ${choices.join(', ')}`));
  return choice;
}

/** Where what is wrong with our form of it stands in UFO's. */
function ufoPath(path: string, { tasks, lines }: { tasks: readonly Item[]; lines: readonly Item[] }): string {
  const [, list = '', index = '', field = '', rest = ''] = /^(tasks|lines)\[(\d+)\]\.?(\w*)(.*)$/u.exec(path) ?? [];
  const item = (list === 'tasks' ? tasks : lines)[Number(index)];
  if (list === '' || item === undefined) return path;
  const theirs = (list === 'tasks' ? UFO_TASK_FIELDS : UFO_LINE_FIELDS)[field] ?? field;
  return `${pathOf(item.path)}${theirs === '' ? '' : `.${theirs}`}${rest}`;
}

const UFO_TASK_FIELDS: Readonly<Record<string, string>> = {
  id: 'task_id',
  target: 'task_data.orrery.target',
  command: 'task_data.orrery.command',
  deadlineMs: 'task_data.orrery.deadlineMs',
  retry: 'task_data.orrery.retry',
  priority: 'task_data.orrery.priority',
  idempotent: 'task_data.orrery.idempotent',
  review: 'task_data.orrery.review',
};
const UFO_LINE_FIELDS: Readonly<Record<string, string>> = {
  id: 'line_id',
  from: 'from_task_id',
  to: 'to_task_id',
  description: 'condition_description',
};

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objectOf(value: unknown): Fields {
  return isObject(value) ? value : {};
}

function issue(path: readonly PropertyKey[], message: string): Issue {
  return { path: pathOf(path), message };
}

function refused(issues: readonly Issue[]): UfoImport {
  return { ok: false, issues: issues.slice(0, ISSUES_MAX) };
}
