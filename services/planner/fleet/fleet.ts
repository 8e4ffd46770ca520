import type { AgentProfile, DeviceId } from '#proto';
import { isRevoked, type FleetView } from '#libs/constellation';
import { KnownAgents } from '#libs/messaging';

/** The fleet as plans are made for it. A view, not a truth: what a plan asks for is judged once more by the orchestrator. */
export class PlanningFleet {
  #devices: ReadonlyMap<DeviceId, AgentProfile> = new Map();
  readonly #serving = new KnownAgents();
  #agents: ReadonlySet<string> = new Set();
  #complete = false;
  #served = false;
  readonly #known = Promise.withResolvers<void>();

  /** All profiles as they are now. */
  replace(devices: ReadonlyMap<DeviceId, AgentProfile>): void {
    this.#devices = devices;
    this.#complete = true;
    this.#learnt();
  }

  /** Kinds of agents that somebody says it serves. `nowMs`: of a clock that never goes back. */
  served(kinds: Iterable<string>, nowMs: number): void {
    this.#agents = this.#serving.see(kinds, nowMs);
    this.#served = true;
    this.#learnt();
  }

  /** Resolves when every profile was seen, and who serves agents. */
  get known(): Promise<void> {
    return this.#known.promise;
  }

  #learnt(): void {
    if (this.#complete && this.#served) this.#known.resolve();
  }

  /** What checks look at. Nothing is known of what runs where: a plan is for devices as they are, not as they are busy. */
  get view(): FleetView {
    return {
      complete: this.#complete,
      watchedMs: 0,
      devices: this.#devices,
      running: () => 0,
      reserved: () => 0,
      circuit: () => ({ state: 'closed' }),
      agents: this.#agents,
      slotsLeft: Infinity,
    };
  }

  /** What a model is told of, in the order of their ids. */
  get profiles(): AgentProfile[] {
    const known = [...this.#devices.values()].filter((profile) => !isRevoked(profile));
    return known.toSorted((a, b) => (a.deviceId < b.deviceId ? -1 : 1));
  }
}
