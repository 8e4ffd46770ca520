import { LineId, parseWith, pathOf, TaskId, isObject, fieldsOf, type Issue } from '#proto';
import { isNothing, type Fields } from './ufo-words.js';

/** Of a key that somebody else made up, in a path. */
const KEY_CHARS_MAX = 64;

/** A list of UFO and what is said of its items. */
export interface Kind {
  readonly list: string;
  readonly idField: string;
  readonly id: typeof TaskId;
  /** `task_001`, `task_002`, ...: the ids of what has none. */
  readonly prefix: string;
  readonly extras: string;
}
export const TASKS: Kind = { list: 'tasks', idField: 'task_id', id: TaskId, prefix: 'task_', extras: 'task_data' };
export const LINES: Kind = {
  list: 'dependencies',
  idField: 'line_id',
  id: LineId,
  prefix: 'line_',
  extras: 'metadata',
};

/** A task or a dependency of UFO. */
export interface Item {
  readonly path: readonly PropertyKey[];
  readonly id: string;
  readonly fields: Fields;
  /** What we wrote there. */
  readonly orrery: Fields;
}

/** A list, or an object by id. In the order in which they were exported, since an object puts numbers first. */
export function itemsOf(json: Fields, kind: Kind, issues: Issue[]): Item[] {
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
    return [{ path, id, fields, orrery: fieldsOf(fieldsOf(fields[kind.extras])['orrery']) }];
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

/** One of some words, in any case; undefined when nothing is said, and when what is said is none of them. */
export function choiceOf<T extends string>(
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

export function issue(path: readonly PropertyKey[], message: string): Issue {
  return { path: pathOf(path), message };
}
