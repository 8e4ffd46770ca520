import { isDeepStrictEqual } from 'node:util';
import type { AgentProfile, DeviceId, FailureOutcome, RunId } from '#proto';
import {
  afterAttempt,
  ANY_DEVICE,
  circuitAt,
  type CircuitState,
  CLOSED,
  type FleetView,
  isRevoked,
  type Run,
} from '#libs/constellation';

/**
 * The fleet as this replica sees it: profiles as they are told, its own runs' tasks per device, counted as soon as they are
 * decided, and the other replicas' as they publish them. In memory only; a view that is behind costs a wait, never a fact.
 */
export class Fleet {
  readonly #devices = new Map<DeviceId, AgentProfile>();
  readonly #byRun = new Map<RunId, ReadonlyMap<DeviceId, number>>();
  readonly #own = new Map<DeviceId, number>();
  readonly #circuits = new Map<DeviceId, CircuitState>();
  readonly #tasksMax: number;
  #others: ReadonlyMap<DeviceId, number> = new Map();
  #agents: ReadonlySet<string> = new Set();
  /** When all profiles had been seen, in milliseconds since the epoch; undefined before. */
  #completeSince: number | undefined;
  #free: (deviceId: DeviceId, slots: number) => void = () => undefined;
  #changed: (what: string) => void = () => undefined;

  /** `tasksMax`: tasks that may run in the whole fleet at a time. */
  constructor(tasksMax = Infinity) {
    this.#tasksMax = tasksMax;
  }

  running(deviceId: DeviceId): number {
    return (this.#own.get(deviceId) ?? 0) + (this.#others.get(deviceId) ?? 0);
  }

  /** As the decision of one run sees it: its own tasks are in its own state. */
  viewOf(runId: RunId, { now, reserved }: Pick<FleetView, 'reserved'> & { readonly now: number }): FleetView {
    const counted = this.#byRun.get(runId);
    return {
      complete: this.#completeSince !== undefined,
      watchedMs: now - (this.#completeSince ?? now),
      devices: this.#devices,
      running: (deviceId) => this.running(deviceId) - (counted?.get(deviceId) ?? 0),
      reserved,
      agents: this.#agents,
      circuit: (deviceId) => circuitAt(this.#circuits.get(deviceId) ?? CLOSED, now),
      slotsLeft: this.#tasksMax - this.#runningOutside(counted),
    };
  }

  /** How an attempt on a device ended: one that keeps failing is given nothing for a while. */
  attemptEnded(deviceId: DeviceId, outcome: FailureOutcome | 'completed', now: number): void {
    const before = this.#circuits.get(deviceId) ?? CLOSED;
    const after = afterAttempt(before, outcome, now);
    if (after === CLOSED) this.#circuits.delete(deviceId);
    else this.#circuits.set(deviceId, after);
    if (before.openUntil !== null && after === CLOSED) this.offer(deviceId);
  }

  /** Running tasks of this replica's own runs, for the other replicas. */
  get own(): ReadonlyMap<DeviceId, number> {
    return this.#own;
  }

  onFree(listener: (deviceId: DeviceId, slots: number) => void): void {
    this.#free = listener;
  }

  /** A device connected, or became another one, or somebody serves another kind of agent: runs that wait for one look again. */
  onChanged(listener: (what: string) => void): void {
    this.#changed = listener;
  }

  /** All profiles that were there at the start have been seen. */
  completed(now: number): void {
    this.#completeSince = now;
  }

  profile(profile: AgentProfile): void {
    const before = this.#devices.get(profile.deviceId);
    // A device that has come back is given another chance at once.
    if (before?.session?.sessionId !== profile.session?.sessionId) this.#circuits.delete(profile.deviceId);
    this.#devices.set(profile.deviceId, profile);
    // How busy a device is gives nobody a slot.
    if (before !== undefined && isDeepStrictEqual({ ...before, metrics: null }, { ...profile, metrics: null })) return;
    this.#changed(profile.deviceId);
    this.offer(profile.deviceId);
  }

  /** Kinds of agents that the living members serve; runs that wait for one that is new look again. */
  agents(agents: ReadonlySet<string>): void {
    const before = this.#agents;
    this.#agents = agents;
    if ([...agents].some((agent) => !before.has(agent))) this.#changed(ANY_DEVICE);
  }

  remove(deviceId: DeviceId): void {
    this.#devices.delete(deviceId);
  }

  others(running: ReadonlyMap<DeviceId, number>): void {
    const before = this.#others;
    this.#others = running;
    for (const [deviceId, count] of before) if ((running.get(deviceId) ?? 0) < count) this.offer(deviceId);
  }

  /** The run's running tasks, replacing what was counted for it. */
  occupy(runId: RunId, run: Run): void {
    const counts = new Map<DeviceId, number>();
    for (const index of run.running) {
      const { deviceId } = run.tasks.at(index);
      if (deviceId !== null) counts.set(deviceId, (counts.get(deviceId) ?? 0) + 1);
    }
    this.#replace(runId, counts);
  }

  vacate(runId: RunId): void {
    this.#replace(runId, new Map());
  }

  #replace(runId: RunId, counts: ReadonlyMap<DeviceId, number>): void {
    const before = this.#byRun.get(runId);
    if (counts.size > 0) this.#byRun.set(runId, counts);
    else this.#byRun.delete(runId);
    const freed: DeviceId[] = [];
    for (const [deviceId, count] of before ?? []) {
      this.#own.set(deviceId, (this.#own.get(deviceId) ?? 0) - count);
      if ((counts.get(deviceId) ?? 0) < count) freed.push(deviceId);
    }
    for (const [deviceId, count] of counts) this.#own.set(deviceId, (this.#own.get(deviceId) ?? 0) + count);
    for (const deviceId of freed) this.offer(deviceId);
    const left = this.#tasksMax - this.#runningOutside(undefined);
    if (freed.length > 0 && left > 0 && left < Infinity) this.#free(ANY_DEVICE, left);
  }

  /** Tells the runs that wait for a slot of a device that there are some, if there are. */
  offer(deviceId: DeviceId): void {
    const device = this.#devices.get(deviceId);
    if (device?.status !== 'connected' || device.held !== null || isRevoked(device)) return;
    // A device whose circuit is open, or was, is tried with one task: two that are woken would wait for each other.
    const { openUntil } = this.#circuits.get(deviceId) ?? CLOSED;
    const slots = (openUntil === null ? device.tasksMax : 1) - this.running(deviceId);
    if (slots > 0) this.#free(deviceId, slots);
  }

  #runningOutside(counted: ReadonlyMap<DeviceId, number> | undefined): number {
    if (this.#tasksMax === Infinity) return 0;
    return sum(this.#own.values()) + sum(this.#others.values()) - sum(counted?.values() ?? []);
  }
}

function sum(counts: Iterable<number>): number {
  let total = 0;
  for (const count of counts) total += count;
  return total;
}
