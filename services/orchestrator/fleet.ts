import type { AgentProfile, DeviceId, RunId } from '#proto';
import type { FleetView, Run } from '#libs/constellation';

/**
 * The fleet as this replica sees it: profiles as they are told, its own runs' tasks per device, counted as soon as they are
 * decided, and the other replicas' as they publish them. In memory only; a view that is behind costs a wait, never a fact.
 */
export class Fleet {
  readonly #devices = new Map<DeviceId, AgentProfile>();
  readonly #byRun = new Map<RunId, ReadonlyMap<DeviceId, number>>();
  readonly #own = new Map<DeviceId, number>();
  #others: ReadonlyMap<DeviceId, number> = new Map();
  #complete = false;
  #free: (deviceId: DeviceId, slots: number) => void = () => undefined;
  #changed: (deviceId: DeviceId) => void = () => undefined;

  running(deviceId: DeviceId): number {
    return (this.#own.get(deviceId) ?? 0) + (this.#others.get(deviceId) ?? 0);
  }

  /** As the decision of one run sees it: its own tasks are in its own state. */
  viewOf(runId: RunId): FleetView {
    const counted = this.#byRun.get(runId);
    return {
      complete: this.#complete,
      devices: this.#devices,
      running: (deviceId) => this.running(deviceId) - (counted?.get(deviceId) ?? 0),
    };
  }

  /** Running tasks of this replica's own runs, for the other replicas. */
  get own(): ReadonlyMap<DeviceId, number> {
    return this.#own;
  }

  onFree(listener: (deviceId: DeviceId, slots: number) => void): void {
    this.#free = listener;
  }

  /** A device connected, or became another one: whoever waits for a device looks again. */
  onChanged(listener: (deviceId: DeviceId) => void): void {
    this.#changed = listener;
  }

  /** All profiles that were there at the start have been seen. */
  completed(): void {
    this.#complete = true;
  }

  profile(profile: AgentProfile): void {
    this.#devices.set(profile.deviceId, profile);
    this.#changed(profile.deviceId);
    this.#tell(profile.deviceId);
  }

  remove(deviceId: DeviceId): void {
    this.#devices.delete(deviceId);
  }

  others(running: ReadonlyMap<DeviceId, number>): void {
    const before = this.#others;
    this.#others = running;
    for (const [deviceId, count] of before) if ((running.get(deviceId) ?? 0) < count) this.#tell(deviceId);
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
    for (const deviceId of freed) this.#tell(deviceId);
  }

  #tell(deviceId: DeviceId): void {
    const device = this.#devices.get(deviceId);
    if (device?.status !== 'connected') return;
    const slots = device.tasksMax - this.running(deviceId);
    if (slots > 0) this.#free(deviceId, slots);
  }
}
