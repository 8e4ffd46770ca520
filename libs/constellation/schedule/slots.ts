import type { DeviceId } from '#proto';
import type { FleetView } from '../edits/index.js';
import type { Run } from '../state/index.js';

/** The fleet view with the run's own tasks counted in as they are by now: a slot that this commit frees is used in this commit. */
export class SlotView implements FleetView {
  readonly #fleet: FleetView;
  readonly #concurrency: number;
  readonly #taken = new Map<DeviceId, number>();
  #running = 0;

  constructor(fleet: FleetView, run: Run) {
    this.#fleet = fleet;
    this.#concurrency = run.request?.options.concurrency ?? Infinity;
    for (const index of run.running) {
      const { deviceId } = run.tasks.at(index);
      if (deviceId !== null) this.take(deviceId);
    }
  }

  get complete(): boolean {
    return this.#fleet.complete;
  }

  get watchedMs(): number {
    return this.#fleet.watchedMs;
  }

  get agents(): FleetView['agents'] {
    return this.#fleet.agents;
  }

  get devices(): FleetView['devices'] {
    return this.#fleet.devices;
  }

  get slotsLeft(): number {
    return this.#fleet.slotsLeft - this.#running;
  }

  get isFleetFull(): boolean {
    return this.slotsLeft <= 0;
  }

  /** Tasks this run may still start: by its own limit and by the fleet's. */
  get left(): number {
    return Math.min(this.slotsLeft, this.#concurrency - this.#running);
  }

  running(deviceId: DeviceId): number {
    return this.#fleet.running(deviceId) + (this.#taken.get(deviceId) ?? 0);
  }

  reserved(deviceId: DeviceId): number {
    return this.#fleet.reserved(deviceId);
  }

  circuit(deviceId: DeviceId): ReturnType<FleetView['circuit']> {
    return this.#fleet.circuit(deviceId);
  }

  take(deviceId: DeviceId): void {
    this.#taken.set(deviceId, (this.#taken.get(deviceId) ?? 0) + 1);
    this.#running++;
  }
}
