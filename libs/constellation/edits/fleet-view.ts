import { wrongArguments } from './call-arguments.js';
import { EXEC_CLI, isExecAliased } from './exec-alias.js';
import { couldSatisfy, satisfies, unknownKeys, unsatisfied, unsatisfiedText } from './satisfies.js';
import {
  HAS_WORKSPACES,
  type AgentProfile,
  type DeviceId,
  type Issue,
  type SessionId,
  type Target,
  type TaskConstellation,
  type TaskStar,
  type ToolInfo,
} from '#proto';
import { listOfIds } from '../plan/index.js';

/** Whether a device that kept failing is given work: `open` gets none until an instant, `half-open` one task to try. */
export type Circuit =
  { readonly state: 'closed' } | { readonly state: 'open'; readonly until: number } | { readonly state: 'half-open' };

/** The fleet as a replica sees it while it decides one run. A view, not a truth. */
export interface FleetView {
  /** "Never satisfiable" is said only from a completely loaded view. */
  readonly complete: boolean;
  /** Milliseconds for which the view has been complete: "no device has come" is said only by who has looked for a while. */
  readonly watchedMs: number;
  readonly devices: ReadonlyMap<DeviceId, AgentProfile>;
  /** Tasks of all other runs on a device, over all replicas; those of the run itself are in its own state. */
  running(deviceId: DeviceId): number;
  /** Slots of a device that this run leaves to runs that have waited for it longer. */
  reserved(deviceId: DeviceId): number;
  circuit(deviceId: DeviceId): Circuit;
  /** Kinds of agents that somebody serves with a model: a task without a command needs one. */
  readonly agents: ReadonlySet<string>;
  /** Tasks that may run in the whole fleet, those of all other runs taken off; Infinity without a limit. */
  readonly slotsLeft: number;
}

export type Assignment =
  | { readonly kind: 'device'; readonly device: AgentProfile }
  /**
   * No device that would do takes a task now. A free slot on one of the `busy` ones wakes it, or `until`, when a circuit may
   * be tried. Neither: none is connected and free to take work.
   */
  | { readonly kind: 'wait'; readonly busy: readonly DeviceId[]; readonly until: number | null }
  | { readonly kind: 'never'; readonly issue: TargetIssue };

/** What a task remembers of earlier attempts. */
export interface Avoided {
  /** A session that was lost under this task: its device is taken again only in a newer one. */
  readonly session: SessionId | null;
  /** Devices on which it failed: taken only when no other one that would do is connected. */
  readonly failedOn: readonly DeviceId[];
}

const NOTHING_AVOIDED: Avoided = { session: null, failedOn: [] };

/**
 * Chooses the device for a task: among the connected ones that satisfy its target, offer its tool and have a free slot,
 * the one with the fewest tasks first, then the least busy machine, then by id, so that the same view gives the same choice.
 */
export function assign(task: TaskStar, fleet: FleetView, avoid: Avoided = NOTHING_AVOIDED): Assignment {
  const able = [...candidates(task.target, fleet)].filter(
    (device) =>
      device.status === 'connected' &&
      device.held === null &&
      device.session !== null &&
      device.session.sessionId !== avoid.session &&
      satisfies(device, task.target) &&
      serves(device, task, fleet),
  );
  const untried =
    avoid.failedOn.length === 0 ? able : able.filter(({ deviceId }) => !avoid.failedOn.includes(deviceId));
  const offered = leastLoaded(untried.length > 0 ? untried : able, fleet);
  if (offered.kind === 'device') return offered;
  const issue = fleet.complete ? unsatisfiable(task, fleet) : undefined;
  // The device-agent may be away for a while; it was there when the task was accepted.
  return issue === undefined || issue.code === 'NO_COMMAND' ? offered : { kind: 'never', issue };
}

function leastLoaded(able: readonly AgentProfile[], fleet: FleetView): Exclude<Assignment, { kind: 'never' }> {
  let best: Candidate | undefined;
  const busy: DeviceId[] = [];
  let until: number | null = null;
  for (const device of able) {
    const { deviceId, tasksMax } = device;
    const circuit = fleet.circuit(deviceId);
    if (circuit.state === 'open') {
      until = Math.min(until ?? Infinity, circuit.until);
      continue;
    }
    const running = fleet.running(deviceId);
    const slots = circuit.state === 'half-open' ? 1 : tasksMax;
    if (running + fleet.reserved(deviceId) >= slots) {
      busy.push(deviceId);
      continue;
    }
    const candidate = { device, running };
    if (best === undefined || comesBefore(candidate, best)) best = candidate;
  }
  return best === undefined ? { kind: 'wait', busy, until } : { kind: 'device', device: best.device };
}

interface Candidate {
  readonly device: AgentProfile;
  readonly running: number;
}

function comesBefore(one: Candidate, other: Candidate): boolean {
  if (one.running !== other.running) return one.running < other.running;
  const [load, otherLoad] = [loadStep(one.device), loadStep(other.device)];
  if (load !== otherLoad) return load < otherLoad;
  return one.device.deviceId < other.device.deviceId;
}

/** Processes that want to run, per processor. Coarse, so that the noise of machines with nothing to do decides nothing. */
const LOAD_STEPS = [0.25, 0.5, 1, 2] as const;
/** Of a device that says nothing about itself: neither idle nor busy. */
const LOAD_UNKNOWN = 2;

/** 0 for an idle machine, up to 4. It only ever breaks ties: metrics are late, and a device may say of itself what it likes. */
function loadStep({ metrics, resources }: AgentProfile): number {
  if (metrics === null || metrics === undefined || resources.cpuCount === 0) return LOAD_UNKNOWN;
  const perProcessor = metrics.load1 / resources.cpuCount;
  let steps = 0;
  for (const step of LOAD_STEPS) if (perProcessor >= step) steps += 1;
  return steps;
}

/** What no enrolled device can do of a task as it is written, with the path of what would have to change; undefined when one might. */
export function checkTarget(task: TaskStar, fleet: FleetView): TargetIssue | undefined {
  return fleet.complete ? (misnamed(task, fleet) ?? unsatisfiable(task, fleet) ?? untakable(task, fleet)) : undefined;
}

/** A slip of the pen in `where` would wait for a device that never comes. What is written well may be given to a device later. */
function misnamed({ target }: TaskStar, fleet: FleetView): TargetIssue | undefined {
  if ('device' in target || target.where === undefined) return undefined;
  const unknown = unknownKeys(target.where, [...candidates({}, fleet)]);
  return unknown === undefined ? undefined : { code: 'NO_DEVICE', path: 'target.where', message: `where ${unknown}` };
}

/** Said to who writes a task; one that is there already is for its tool to refuse, which may take more by then. */
function untakable(task: TaskStar, fleet: FleetView): TargetIssue | undefined {
  const issue = wrongArguments(task, meant(task.target, fleet));
  return issue === undefined ? undefined : { code: 'INVALID_ARGUMENTS', ...issue };
}

function meant(target: Target, fleet: FleetView): AgentProfile[] {
  return [...candidates(target, fleet)].filter((device) => couldSatisfy(device, target));
}

/** The tasks that no enrolled device can ever satisfy, with the path of what would have to change. */
export function checkTargets({ tasks }: TaskConstellation, fleet: FleetView): Issue[] {
  return tasks.flatMap((task, index) => {
    const issue = checkTarget(task, fleet);
    return issue === undefined ? [] : [{ path: `tasks[${index}].${issue.path}`, message: issue.message }];
  });
}

/** True when running it twice harms nobody: by the task's own word, or by the tool's. */
export function isRepeatable(task: TaskStar, fleet: FleetView, deviceId: DeviceId | null): boolean {
  if (task.idempotent === true) return true;
  const tools = (deviceId === null ? undefined : fleet.devices.get(deviceId))?.tools ?? [];
  return tools.some((tool) => tool.name === task.command?.tool && tool.readOnly);
}

export interface TargetIssue extends Issue {
  readonly code: 'NO_DEVICE' | 'UNKNOWN_TOOL' | 'NO_COMMAND' | 'INVALID_ARGUMENTS';
}

function unsatisfiable(task: TaskStar, fleet: FleetView): TargetIssue | undefined {
  const able = meant(task.target, fleet);
  if (able.length === 0) return { code: 'NO_DEVICE', path: 'target', message: whyNoTarget(task.target, fleet) };
  if (!able.some((device) => device.session === null || movesFiles(device, task))) return noWorkspace(able);
  const { target } = task;
  const verify = { tool: task.verify?.command?.tool, path: 'verify.command.tool', target };
  if (task.command === undefined) {
    if (!able.some(({ agent }) => fleet.agents.has(agent))) return noAgent(able, fleet);
    return missingTool(able, verify);
  }
  const { tool } = task.command;
  return missingTool(able, { tool, path: 'command.tool', target }) ?? missingTool(able, verify);
}

function noAgent(able: readonly AgentProfile[], { agents }: FleetView): TargetIssue {
  const wanted = listOfIds([...new Set(able.map(({ agent }) => agent))].toSorted());
  const there = agents.size === 0 ? 'none is there' : `those that are there serve ${listOfIds([...agents].toSorted())}`;
  const message = `a task without a command needs a device agent with a model for ${wanted} and ${there}; give it a command`;
  return { code: 'NO_COMMAND', path: 'command', message };
}

function noWorkspace(able: readonly AgentProfile[]): TargetIssue {
  const ids = listOfIds(able.map(({ deviceId }) => deviceId).toSorted());
  const not = able.length === 1 ? 'does not' : 'do not';
  const message = `no device that satisfies the target moves files (it has the capability "${HAS_WORKSPACES}"): ${ids} ${not}; a client of this version does`;
  return { code: 'NO_DEVICE', path: 'files', message };
}

function missingTool(
  able: readonly AgentProfile[],
  { tool, path, target }: { readonly tool: string | undefined; readonly path: string; readonly target: Target },
): TargetIssue | undefined {
  if (tool === undefined || able.some((device) => device.session === null || mayOffer(device, tool, target)))
    return undefined;
  const known = [...new Set(able.flatMap((device) => device.tools.map(({ name }: ToolInfo) => name)))].toSorted();
  const message = `no device that satisfies the target has the tool "${tool}"; known are ${listOfIds(known)}`;
  return { code: 'UNKNOWN_TOOL', path, message };
}

function whyNoTarget(target: Target, fleet: FleetView): string {
  const ids = [...candidates({}, fleet)].map(({ deviceId }) => deviceId).toSorted();
  if ('device' in target) {
    const why = fleet.devices.has(target.device)
      ? `the device "${target.device}" is revoked`
      : `no device "${target.device}" is enrolled`;
    return `${why}; known are ${listOfIds(ids)}`;
  }
  const below = [...candidates({}, fleet)].flatMap((device) => {
    const why = unsatisfied(device, target);
    return why?.field === 'resources' ? `${device.deviceId} ${unsatisfiedText(why)}` : [];
  });
  const known = below.length === 0 ? `known devices are ${listOfIds(ids)}` : listOfIds(below.toSorted());
  return `no enrolled device can satisfy ${JSON.stringify(target)}; ${known}`;
}

/** Devices that may be meant. One that is revoked is nobody's device until it is enrolled and has joined again. */
export function* candidates(target: Target, fleet: FleetView): Generator<AgentProfile> {
  if ('device' in target) {
    const device = fleet.devices.get(target.device);
    if (device !== undefined && !isRevoked(device)) yield device;
    return;
  }
  for (const device of fleet.devices.values()) if (!isRevoked(device)) yield device;
}

export function isRevoked({ revoked }: AgentProfile): boolean {
  return revoked !== null && revoked !== undefined;
}

/** Can do the work, and what is checked afterwards. */
function serves(device: AgentProfile, task: TaskStar, { agents }: FleetView): boolean {
  const { command, verify, target } = task;
  if (!movesFiles(device, task)) return false;
  if (command === undefined ? !agents.has(device.agent) : !mayOffer(device, command.tool, target)) return false;
  return verify?.command === undefined || mayOffer(device, verify.command.tool, target);
}

/**
 * A device that names no tools at all was not heard, or does not tell: an author who names it may know better. EXEC_CLI under another
 * name takes less than EXEC_CLI does: only who names the device means that.
 */
function mayOffer(device: AgentProfile, tool: string, target: Target): boolean {
  if (offers(device, tool)) return true;
  if (!('device' in target)) return false;
  return device.tools.length === 0 || (tool === EXEC_CLI && isExecAliased(device.tools));
}

/** Where files are named the device has to have a place for them; one that never connected has not said whether it does. */
export function movesFiles({ capabilities }: AgentProfile, { files }: TaskStar): boolean {
  return files === undefined || capabilities.includes(HAS_WORKSPACES);
}

export function offers(device: AgentProfile, tool: string): boolean {
  return device.tools.some(({ name }) => name === tool);
}
