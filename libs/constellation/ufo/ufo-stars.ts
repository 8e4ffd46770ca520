import { DeviceId, LIMITS, LineType, parseWith, isObject, fieldsOf, type Issue } from '#proto';
import { checkCondition, LINE_KINDS, listOfIds } from '../plan/index.js';
import { choiceOf, issue, type Item } from './ufo-items.js';
import {
  DEPENDENCY_TYPES,
  DEVICE_TYPES,
  isNothing,
  levelOf,
  MEDIUM,
  NOT_EXTRAS_OF_LINES,
  NOT_EXTRAS_OF_TASKS,
  PRIORITIES,
  PRIORITY_VALUES,
  withoutKeys,
  withoutNothing,
} from './ufo-words.js';

/** What UFO has no field for is taken as we wrote it, whatever it is; the schema of a task judges it like any other. */
export function starOf(item: Item, issues: Issue[]): object {
  const { id, fields, orrery } = item;
  return withoutNothing({
    ...withoutKeys(orrery, NOT_EXTRAS_OF_TASKS),
    id,
    name: fields['name'],
    description: fields['description'] ?? fields['task_description'],
    tips: fields['tips'],
    target: targetOf(item, issues),
    timeoutMs: timeoutOf(item, issues),
    retry: retryOf(item, issues),
    priority: priorityOf(item, issues),
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
  return { ...fieldsOf(policy), attempts: again + 1 };
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
 * kept for people and models, and what UFO would have asked instead, whether there was a result, decides. One that we
 * wrote stays a condition whatever is in it: it was one, and may be refused, but it is never less than it was.
 */
export function starLineOf(item: Item, ids: ReadonlySet<string>, issues: Issue[]): object {
  const { id, fields, orrery, path } = item;
  for (const end of ['from_task_id', 'to_task_id']) {
    const value = fields[end];
    if (typeof value === 'string' && ids.has(value)) continue;
    issues.push(issue([...path, end], `must be the id of a task; known are ${listOfIds([...ids])}`));
  }
  const extras = withoutKeys(orrery, NOT_EXTRAS_OF_LINES);
  const line = { ...extras, id, from: fields['from_task_id'], to: fields['to_task_id'] };
  const text = fields['condition_description'];
  const type = choiceOf(item, 'dependency_type', DEPENDENCY_TYPES, issues);
  const decides = typeof text === 'string' && (text === orrery['condition'] || checkCondition(text) === undefined);
  const borrowed = borrowedType(orrery['type'], type, text);
  if (borrowed !== undefined) return withoutNothing({ ...line, type: borrowed, description: orrery['description'] });
  if (type === 'conditional' && decides) {
    return withoutNothing({ ...line, type, condition: text, description: orrery['description'] });
  }
  return withoutNothing({ ...line, type: typeOf(type), description: text });
}

/** Of a line of a type that we write with a word of UFO's for another one, while it still stands as we wrote it. */
function borrowedType(ours: unknown, theirs: string | undefined, text: unknown): LineType | undefined {
  const type = LineType.options.find((one) => one === ours);
  const { ufo } = LINE_KINDS[type ?? 'unconditional'];
  return ufo.condition !== undefined && ufo.type === theirs && ufo.condition === text ? type : undefined;
}

/** Of a line that UFO asks no condition of that we could judge. */
function typeOf(type: (typeof DEPENDENCY_TYPES)[number] | undefined): LineType {
  return type === 'conditional' || type === 'success_only' ? 'success-only' : 'unconditional';
}
