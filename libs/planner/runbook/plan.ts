import {
  checkWhere,
  constellationOfTools,
  couldSatisfy,
  type FleetView,
  isRevoked,
  jsonBytes,
  listOfIds,
  satisfies,
  unknownKeys,
  validateConstellation,
} from '#libs/constellation';
import {
  type AgentProfile,
  type DeviceId,
  HAS_WORKSPACES,
  type Issue,
  type Json,
  LIMITS,
  parseWith,
  type RunbookFile,
  type RunbookTask,
  type RunbookUse,
  Selector,
  type TaskConstellation,
  ToolConstellation,
} from '#proto';
import type { Runbook } from './runbook.js';
import { expand, selectorOf, steeringValues } from './expand.js';
import { checkParameters } from './parameters.js';
import type { Values } from './placeholders.js';

export interface LeftOut {
  readonly deviceId: DeviceId;
  /** e.g. `lost`, `held`. */
  readonly why: string;
}

export type RunbookPlan =
  | {
      readonly ok: true;
      readonly constellation: TaskConstellation;
      readonly use: RunbookUse;
      /** Devices that are meant by `for_each` and cannot be asked now. */
      readonly leftOut: readonly LeftOut[];
    }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** The plan that a runbook makes of these parameters for the fleet as it is known now; no model is asked. */
export function planOfRunbook(
  { info, file }: Runbook,
  parameters: Readonly<Record<string, Json>>,
  { fleet }: { readonly fleet: FleetView },
): RunbookPlan {
  const checked = checkParameters(info.name, info.parameters, parameters);
  if (!checked.ok) return checked;
  const unknown = unknownDevices(info.parameters, checked.values, fleet);
  if (unknown.length > 0) return { ok: false, issues: unknown };
  const values = new Map([...checked.values].map(([name, value]) => [`p.${name}`, value]));
  const chosen = chooseDevices(file, values, fleet);
  if (!chosen.ok) return chosen;
  const { byTask, leftOut } = chosen;
  const devices = [...new Set([...byTask.values()].flat())].toSorted();
  values.set('fleet.devices', devices.join(' '));
  values.set('fleet.left_out', leftOut.map(({ deviceId, why }) => `${deviceId} (${why})`).join(', '));
  const made = runbookConstellation(file, values, (index) => byTask.get(index) ?? []);
  if (!made.ok) return made;
  const tooLarge = checkSize(made.constellation, devices.length);
  if (tooLarge !== undefined) return { ok: false, issues: [tooLarge] };
  const use = { name: info.name, hash: info.hash, parameters: Object.fromEntries(checked.values) };
  return { ok: true, constellation: made.constellation, use, leftOut };
}

/** What an edit says besides its constellation. */
const EDIT_BYTES = 1_024;

/** A plan is proposed as one edit, and repeats the text of a task for every device. */
function checkSize(constellation: TaskConstellation, devices: number): Issue | undefined {
  const bytes = jsonBytes(constellation) + EDIT_BYTES;
  if (bytes <= LIMITS.editBytesMax) return undefined;
  const message = `the plan for ${devices} devices has ${bytes} bytes; at most ${LIMITS.editBytesMax} are taken: choose fewer devices, e.g. by tags`;
  return { path: 'constellation', message };
}

export type MadePlan =
  | { readonly ok: true; readonly constellation: TaskConstellation }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** The constellation of a runbook with these values; paths of issues lead into the runbook's file. */
export function runbookConstellation(
  file: RunbookFile,
  values: Values,
  devicesOf: (index: number) => readonly DeviceId[],
): MadePlan {
  const steering = file.constellation.tasks.flatMap((task, index) =>
    steeringValues(task, values).map(({ path, message }) => ({
      path: `constellation.tasks[${index}].${path}`,
      message,
    })),
  );
  if (steering.length > 0) return { ok: false, issues: steering };
  const { config, taskOrigins, dependencyOrigins } = expand(file, values, devicesOf);
  const refused = (issues: readonly Issue[]): MadePlan => {
    const placed = issues.map(({ path, message }) => ({
      path: pathInFile(path, taskOrigins, dependencyOrigins),
      message,
    }));
    return { ok: false, issues: placed };
  };
  const parsed = parseWith(ToolConstellation, config);
  if (!parsed.ok) return refused(parsed.issues);
  const made = constellationOfTools(parsed.value, file.name);
  if (!made.ok) return refused(made.issues);
  const issues = validateConstellation(made.constellation);
  return issues.length > 0 ? refused(issues) : made;
}

/** `tasks[5].name` of a plan is `constellation.tasks[0].name` of the file when its first task stands for six devices. */
function pathInFile(path: string, tasks: readonly number[], dependencies: readonly number[]): string {
  const [, list, index = '', rest = ''] = /^(tasks|dependencies|lines)\[(\d+)\](.*)$/su.exec(path) ?? [];
  if (list === undefined) return path === 'lines' ? 'constellation.dependencies' : `constellation.${path}`;
  const [name, origins] = list === 'tasks' ? ['tasks', tasks] : ['dependencies', dependencies];
  return `constellation.${name}[${origins[Number(index)] ?? index}]${rest}`;
}

function unknownDevices(
  parameters: Runbook['info']['parameters'],
  values: ReadonlyMap<string, Json>,
  fleet: FleetView,
): Issue[] {
  if (!fleet.complete) return [];
  const known = [...fleet.devices.values()].filter((device) => !isRevoked(device)).map(({ deviceId }) => deviceId);
  return parameters.flatMap(({ name, type }) => {
    const value = values.get(name);
    if (type !== 'device' || typeof value !== 'string' || known.includes(value)) return [];
    const message = `no device "${value}" is enrolled; known are ${listOfIds(known.toSorted())}`;
    return [{ path: `parameters.${name}`, message }];
  });
}

type Chosen =
  | {
      readonly ok: true;
      readonly byTask: ReadonlyMap<number, readonly DeviceId[]>;
      readonly leftOut: readonly LeftOut[];
    }
  | { readonly ok: false; readonly issues: readonly Issue[] };

/** The devices of every template with `for_each`, by its index. */
function chooseDevices({ constellation }: RunbookFile, values: Values, fleet: FleetView): Chosen {
  const byTask = new Map<number, readonly DeviceId[]>();
  const leftOut = new Map<DeviceId, string>();
  const issues: Issue[] = [];
  const without = new Map<string, Set<DeviceId>>();
  for (const [index, task] of inOrder(constellation)) {
    if (task.for_each === undefined) continue;
    const path = `constellation.tasks[${index}].for_each`;
    const selector = parseWith(Selector, selectorOf(task.for_each, values));
    if (!selector.ok) {
      issues.push(...selector.issues.map((issue) => ({ path, message: issue.message })));
      continue;
    }
    if (!fleet.complete) return { ok: false, issues: [{ path, message: 'the fleet is not known yet; try again' }] };
    const wrong = wrongWhere(selector.value, fleet);
    if (wrong !== undefined) {
      issues.push({ path: `${path}.where`, message: `where ${wrong}` });
      continue;
    }
    const able: DeviceId[] = [];
    // What a device cannot begin it cannot go on with.
    const before = constellation.dependencies.filter(({ to_task_id: to }) => to === task.task_id);
    const behind = new Set(before.flatMap(({ from_task_id: from }) => [...(without.get(from) ?? [])]));
    without.set(task.task_id, behind);
    for (const device of [...fleet.devices.values()].filter((one) => isMeant(one, selector.value))) {
      const why = whyNot(device, task);
      if (why === undefined && !behind.has(device.deviceId)) able.push(device.deviceId);
      else {
        behind.add(device.deviceId);
        if (why !== undefined) leftOut.set(device.deviceId, why);
      }
    }
    byTask.set(index, able.toSorted());
    if (able.length === 0) issues.push({ path, message: noDevice(selector.value, fleet) });
  }
  if (issues.length > 0) return { ok: false, issues };
  const sorted = [...leftOut].map(([deviceId, why]) => ({ deviceId, why }));
  return { ok: true, byTask, leftOut: sorted.toSorted((one, other) => (one.deviceId < other.deviceId ? -1 : 1)) };
}

/** What cannot be asked of devices, or names what none has. */
function wrongWhere({ where }: Selector, fleet: FleetView): string | undefined {
  if (where === undefined) return undefined;
  return (
    checkWhere(where) ??
    unknownKeys(
      where,
      [...fleet.devices.values()].filter((device) => !isRevoked(device)),
    )
  );
}

/** Templates with their index, each behind those that it depends on; of a circle, which is refused later, as they stand. */
function inOrder({ tasks, dependencies }: RunbookFile['constellation']): [number, RunbookTask][] {
  const ordered: [number, RunbookTask][] = [];
  const left = new Map(tasks.entries());
  while (left.size > 0) {
    const waiting = new Set([...left.values()].map(({ task_id: id }) => id));
    const ready = [...left].filter(
      ([, task]) =>
        !dependencies.some(({ from_task_id: from, to_task_id: to }) => to === task.task_id && waiting.has(from)),
    );
    for (const [index, task] of ready.length > 0 ? ready : left) {
      ordered.push([index, task]);
      left.delete(index);
    }
  }
  return ordered;
}

/** A device that never connected has told nothing of itself: only its tags can rule it out. */
function isMeant(device: AgentProfile, selector: Selector): boolean {
  if (isRevoked(device)) return false;
  return device.session === null ? couldSatisfy(device, selector) : satisfies(device, selector);
}

/** Why a device would not take the task now; undefined when it would. */
function whyNot(
  { status, held, session, tools, capabilities }: AgentProfile,
  { command, files }: RunbookTask,
): string | undefined {
  if (session === null) return 'never connected';
  if (status !== 'connected') return status;
  if (held !== null) return 'held';
  if (files !== undefined && !capabilities.includes(HAS_WORKSPACES)) return 'moves no files';
  if (command === undefined || tools.some(({ name }) => name === command.tool)) return undefined;
  return `without ${command.tool}`;
}

function noDevice(selector: Selector, fleet: FleetView): string {
  const known = [...fleet.devices.values()]
    .filter((device) => !isRevoked(device))
    .map(({ deviceId, status, held }) => `${deviceId} (${held === null ? status : `${status}, held`})`);
  return `no connected device satisfies ${JSON.stringify(selector)}; known are ${listOfIds(known.toSorted())}`;
}
