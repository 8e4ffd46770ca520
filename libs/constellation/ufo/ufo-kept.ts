// What a constellation of somebody else had in UFO's JSON and ours has no field for: their own data, an id, a device's type
// beside its name. It waits in the metadata of the request and stands in its old place when the run is exported.
import { isObject, fieldsOf, type TaskStar, type TaskStarLine } from '#proto';
import { checkCondition } from '../plan/index.js';
import type { Item } from './ufo-items.js';
import { isNothing, withoutKeys, type Fields } from './ufo-words.js';

/** Under this name, in the metadata of a request. */
const NAME = 'ufo';

/** By id, where there are several. */
export interface Kept {
  readonly constellation: Fields;
  readonly tasks: Fields;
  readonly lines: Fields;
}

/** The metadata of a request, what was kept in it taken out. */
export function takeKept(metadata: Fields): { readonly kept: Kept; readonly metadata: Fields } {
  const { [NAME]: found, ...rest } = metadata;
  if (!isObject(found) || Object.keys(found).some((key) => !SECTIONS.has(key))) {
    return { kept: { constellation: {}, tasks: {}, lines: {} }, metadata };
  }
  const [constellation, tasks, lines] = [found['constellation'], found['tasks'], found['lines']].map(fieldsOf);
  return { kept: { constellation: constellation ?? {}, tasks: tasks ?? {}, lines: lines ?? {} }, metadata: rest };
}

/** As an entry of the metadata of a request; none when everything has a place of its own. */
export function keptEntry(json: Fields, tasks: readonly Item[], lines: readonly Item[]): Fields {
  const { orrery, ...metadata } = fieldsOf(json['metadata']);
  const isOurs = json['constellation_id'] === fieldsOf(orrery)['runId'];
  const id = isOurs ? undefined : json['constellation_id'];
  const sections = {
    constellation: { ...withoutKeys(json, KNOWN_OF_CONSTELLATIONS), constellation_id: id, metadata },
    tasks: byId(tasks, keptInTask),
    lines: byId(lines, keptInLine),
  };
  const kept = withoutEmptyFields({ ...sections, constellation: withoutEmptyFields(sections.constellation) });
  return Object.keys(kept).length === 0 ? {} : { [NAME]: kept };
}

/** What UFO's own fields of a task leave out; a device's type only beside the device it was said of. */
export function keptOfTask({ id, target }: TaskStar, { tasks }: Kept): Fields {
  const { device_type: type, ...kept } = ownOf(tasks, id);
  return 'device' in target && type !== undefined ? { ...kept, device_type: type } : kept;
}

/** As `keptOfTask`; what UFO called the dependency only while it still reads as what it is by now. */
export function keptOfLine({ id, type, description = '' }: TaskStarLine, { lines }: Kept): Fields {
  const { dependency_type: said, ...kept } = ownOf(lines, id);
  const isFree = said === 'conditional' && type === 'success-only' && checkCondition(description) !== undefined;
  const isSaid = isFree || (said === 'completion_only' && type === 'unconditional');
  return isSaid ? { ...kept, dependency_type: said } : kept;
}

/** Without what says nothing: nulls, empty texts, empty objects. */
export function withoutEmptyFields(fields: Fields): Fields {
  const isEmpty = (value: unknown): boolean =>
    isNothing(value) || value === '' || (isObject(value) && Object.keys(value).length === 0);
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));
}

function keptInTask({ fields }: Item): Fields {
  const { orrery: _, ...data } = fieldsOf(fields['task_data']);
  const isBeside = !isNothing(fields['target_device_id']) && fields['target_device_id'] !== '';
  return withoutEmptyFields({
    ...withoutKeys(fields, KNOWN_OF_TASKS),
    device_type: isBeside ? fields['device_type'] : undefined,
    task_data: data,
  });
}

function keptInLine({ fields, orrery: ours }: Item): Fields {
  const { orrery: _, ...metadata } = fieldsOf(fields['metadata']);
  const said = fields['dependency_type'];
  const type = typeof said === 'string' ? said.toLowerCase() : undefined;
  const text = fields['condition_description'];
  const isFree =
    type === 'conditional' &&
    (typeof text !== 'string' || (text !== ours['condition'] && checkCondition(text) !== undefined));
  return withoutEmptyFields({
    ...withoutKeys(fields, KNOWN_OF_LINES),
    dependency_type: isFree || type === 'completion_only' ? type : undefined,
    metadata,
  });
}

function byId(items: readonly Item[], of: (item: Item) => Fields): Fields {
  return withoutEmptyFields(Object.fromEntries(items.map((item) => [item.id, of(item)])));
}

function ownOf(fields: Fields, id: string): Fields {
  return Object.hasOwn(fields, id) ? fieldsOf(fields[id]) : {};
}

const SECTIONS: ReadonlySet<string> = new Set(['constellation', 'tasks', 'lines']);

const TIMES = ['created_at', 'updated_at'];
const EXECUTION = ['execution_start_time', 'execution_end_time', 'execution_duration'];

const words = (text: string): string[] => text.split(' ');

// Fields that are read, and those that tell of a run that is over: another run has its own.
const KNOWN_OF_CONSTELLATIONS: ReadonlySet<string> = new Set([
  ...words('name tasks dependencies state'),
  ...TIMES,
  ...EXECUTION,
]);
const KNOWN_OF_TASKS: ReadonlySet<string> = new Set([
  ...words('task_id name description tips task_description target_device_id priority timeout retry_count'),
  ...words('status result error current_retry dependencies dependents'),
  ...TIMES,
  ...EXECUTION,
]);
const KNOWN_OF_LINES: ReadonlySet<string> = new Set([
  ...words('line_id from_task_id to_task_id condition_description'),
  ...words('is_satisfied last_evaluation_result last_evaluation_time'),
  ...TIMES,
]);
