import type { AgentProfile, DeviceId, Issue, SessionId, Target, TaskConstellation, TaskStar, ToolInfo } from '#proto';
import { listed } from './validate.js';

/** The fleet as a replica sees it while it decides one run. A view, not a truth. */
export interface FleetView {
  /** "Never satisfiable" is said only from a completely loaded view. */
  readonly complete: boolean;
  readonly devices: ReadonlyMap<DeviceId, AgentProfile>;
  /** Tasks of all other runs on a device, over all replicas; those of the run itself are in its own state. */
  running(deviceId: DeviceId): number;
}

export type Assignment =
  | { readonly kind: 'device'; readonly device: AgentProfile }
  /** Every device that would do is busy: a free slot on one of these wakes the task. Empty: none is connected. */
  | { readonly kind: 'wait'; readonly busy: readonly DeviceId[] }
  | { readonly kind: 'never'; readonly issue: Issue };

/**
 * Chooses the device for a task: among the connected ones that satisfy its target, offer its tool and have a free slot,
 * the least loaded first, then by id, so that the same view gives the same choice. `avoid` is a session that was lost
 * under this task: its device is taken again only in a newer one.
 */
export function assign(task: TaskStar, fleet: FleetView, avoid: SessionId | null = null): Assignment {
  let best: { device: AgentProfile; running: number } | undefined;
  const busy: DeviceId[] = [];
  for (const device of candidates(task.target, fleet)) {
    if (device.status !== 'connected' || device.session === null || device.session.sessionId === avoid) continue;
    if (!satisfies(device, task.target) || !offers(device, task.command.tool)) continue;
    const running = fleet.running(device.deviceId);
    if (running >= device.tasksMax) {
      busy.push(device.deviceId);
      continue;
    }
    if (
      best === undefined ||
      running < best.running ||
      (running === best.running && device.deviceId < best.device.deviceId)
    ) {
      best = { device, running };
    }
  }
  if (best !== undefined) return { kind: 'device', device: best.device };
  const issue = fleet.complete ? unsatisfiable(task, fleet) : undefined;
  return issue === undefined ? { kind: 'wait', busy } : { kind: 'never', issue };
}

/** The tasks that no enrolled device can ever satisfy, with the path of what would have to change. */
export function checkTargets({ tasks }: TaskConstellation, fleet: FleetView): Issue[] {
  if (!fleet.complete) return [];
  return tasks.flatMap((task, index) => {
    const issue = unsatisfiable(task, fleet);
    return issue === undefined ? [] : [{ path: `tasks[${index}].${issue.path}`, message: issue.message }];
  });
}

/** True when running it twice harms nobody: by the task's own word, or by the tool's. */
export function isRepeatable(task: TaskStar, fleet: FleetView, deviceId: DeviceId | null): boolean {
  if (task.idempotent === true) return true;
  const tools = (deviceId === null ? undefined : fleet.devices.get(deviceId))?.tools ?? [];
  return tools.some((tool) => tool.name === task.command.tool && tool.readOnly);
}

function unsatisfiable(task: TaskStar, fleet: FleetView): Issue | undefined {
  const able = [...candidates(task.target, fleet)].filter((device) => couldSatisfy(device, task.target));
  if (able.length === 0) return { path: 'target', message: whyNoTarget(task.target, fleet) };
  const { tool } = task.command;
  if (able.some((device) => device.session === null || offers(device, tool))) return undefined;
  const known = [...new Set(able.flatMap((device) => device.tools.map(({ name }: ToolInfo) => name)))].toSorted();
  return {
    path: 'command.tool',
    message: `no device that satisfies the target has the tool "${tool}"; known are ${listed(known)}`,
  };
}

function whyNoTarget(target: Target, fleet: FleetView): string {
  const ids = [...fleet.devices.keys()].toSorted();
  if ('device' in target) return `no device "${target.device}" is enrolled; known are ${listed(ids)}`;
  return `no enrolled device can satisfy ${JSON.stringify(target)}; known devices are ${listed(ids)}`;
}

function* candidates(target: Target, fleet: FleetView): Generator<AgentProfile> {
  if (!('device' in target)) {
    yield* fleet.devices.values();
    return;
  }
  const device = fleet.devices.get(target.device);
  if (device !== undefined) yield device;
}

function satisfies(device: AgentProfile, target: Target): boolean {
  if ('device' in target) return device.deviceId === target.device;
  const { os, capabilities = [], tags = [], resources } = target;
  return (
    (os === undefined || device.os === os) &&
    capabilities.every((capability) => device.capabilities.includes(capability)) &&
    tags.every((tag) => device.tags.includes(tag)) &&
    device.resources.cpuCount >= (resources?.cpuCount ?? 0) &&
    device.resources.memoryMb >= (resources?.memoryMb ?? 0)
  );
}

/** A device that never connected has told nothing yet: only its tags, which the administrator gave, can rule it out. */
function couldSatisfy(device: AgentProfile, target: Target): boolean {
  if (device.session !== null || 'device' in target) return satisfies(device, target);
  return (target.tags ?? []).every((tag) => device.tags.includes(tag));
}

function offers(device: AgentProfile, tool: string): boolean {
  return device.tools.some(({ name }) => name === tool);
}
