// UFO's constellation JSON, read here and written in ufo-export.ts. UFO says less about a task than we do: what it has no
// field for stands in `task_data.orrery` of a task and `metadata.orrery` of a line; what the run was asked besides, in
// `metadata.orrery` of the constellation. UFO's own fields win over it, so that an export which was changed by UFO is read
// as it was changed. What UFO says and we have no field for is kept in the metadata of the request (ufo-kept.ts).
import { parseWith, pathOf, TaskConstellation, isObject, fieldsOf, type Issue } from '#proto';
import { issue, itemsOf, LINES, TASKS, type Item } from './ufo-items.js';
import { keptEntry } from './ufo-kept.js';
import { starLineOf, starOf } from './ufo-stars.js';
import type { Fields } from './ufo-words.js';

export type UfoImport =
  | { readonly ok: true; readonly constellation: TaskConstellation; readonly asked: UfoAsked }
  | { readonly ok: false; readonly issues: Issue[] };

/** What a request has beside its constellation, as it was exported with it: to be judged by the schema of a request. */
export interface UfoAsked {
  readonly options: Fields;
  readonly metadata: Fields;
  readonly labels?: Fields;
}

const ISSUES_MAX = 20;

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
    lines: lines.map((item) => starLineOf(item, ids, issues)),
  };
  if (issues.length > 0) return refused(issues);
  const parsed = parseWith(TaskConstellation, { ...draft, name: draft.name ?? 'constellation' });
  if (parsed.ok) return { ok: true, constellation: parsed.value, asked: askedOf(json, tasks, lines) };
  return refused(parsed.issues.map(({ path, message }) => ({ path: ufoPath(path, { tasks, lines }), message })));
}

function askedOf(json: Fields, tasks: readonly Item[], lines: readonly Item[]): UfoAsked {
  const { options, metadata, labels } = fieldsOf(fieldsOf(json['metadata'])['orrery']);
  const said = { options: fieldsOf(options), ...(labels !== undefined && { labels: fieldsOf(labels) }) };
  return { ...said, metadata: { ...fieldsOf(metadata), ...keptEntry(json, tasks, lines) } };
}

/**
 * A request, with a constellation of ours where it had one of UFO's, and with what that was exported with: what the request
 * says itself wins. Anything else stays as it is.
 */
export function withoutUfo(
  request: unknown,
): { readonly ok: true; readonly request: unknown } | { readonly ok: false; readonly issues: Issue[] } {
  if (!isObject(request) || !isUfoConstellation(request['constellation'])) return { ok: true, request };
  const imported = importUfo(request['constellation']);
  if (!imported.ok) {
    const issues = imported.issues.map(({ path, message }) => ({ path: `constellation.${path}`, message }));
    return { ok: false, issues };
  }
  const { constellation, asked } = imported;
  const { options, metadata, labels } = request;
  return {
    ok: true,
    request: {
      ...request,
      constellation,
      ...merged('options', asked.options, options),
      ...merged('metadata', asked.metadata, metadata),
      ...merged('labels', asked.labels ?? {}, labels),
    },
  };
}

/** Nothing when neither says anything; what is no object is left to the schema. */
function merged(name: string, exported: Fields, own: unknown): Fields {
  if (Object.keys(exported).length === 0 || (own !== undefined && !isObject(own))) return {};
  return { [name]: { ...exported, ...own } };
}

/** Where what is wrong with our form of it stands in UFO's. */
function ufoPath(path: string, { tasks, lines }: { tasks: readonly Item[]; lines: readonly Item[] }): string {
  const [, list = '', index = '', field = '', rest = ''] = /^(tasks|lines)\[(\d+)\]\.?(\w*)(.*)$/u.exec(path) ?? [];
  const isTask = list === 'tasks';
  const item = (isTask ? tasks : lines)[Number(index)];
  if (list === '' || item === undefined) return path;
  const extra = field === '' ? '' : `${isTask ? 'task_data' : 'metadata'}.orrery.${field}`;
  const theirs = (isTask ? UFO_TASK_FIELDS : UFO_LINE_FIELDS)[field] ?? extra;
  return `${pathOf(item.path)}${theirs === '' ? '' : `.${theirs}`}${rest}`;
}

/** Where UFO has a field of its own. */
const UFO_TASK_FIELDS: Readonly<Record<string, string>> = {
  id: 'task_id',
  name: 'name',
  description: 'description',
  tips: 'tips',
  timeoutMs: 'timeout',
};
const UFO_LINE_FIELDS: Readonly<Record<string, string>> = {
  id: 'line_id',
  from: 'from_task_id',
  to: 'to_task_id',
  type: 'dependency_type',
  condition: 'condition_description',
  description: 'condition_description',
};

function refused(issues: readonly Issue[]): UfoImport {
  return { ok: false, issues: issues.slice(0, ISSUES_MAX) };
}
