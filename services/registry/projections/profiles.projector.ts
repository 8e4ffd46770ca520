import type { Logger } from 'pino';
import { FLEET_ID, GRANTS_ID, type AgentProfile, type DeviceHold, type DeviceId, type MeasuredMetrics } from '#proto';
import { Loop } from '#libs/platform';
import type { Device, FleetState } from '#libs/fleet';
import { DirtyKeys } from './dirty-keys.runner.js';
import { profileOf } from './profile.js';
import type { ProfileStore } from './profile-store.js';

export interface ProjectorOptions {
  readonly name: string;
  readonly store: ProfileStore;
  readonly state: FleetState;
  /** By whom the whole fleet is held, as the log says now. */
  readonly fleetHeld: () => Promise<DeviceHold | null>;
  /** What is known of how a device is doing, with this profile stored. */
  readonly metrics: (device: Device, stored: AgentProfile | undefined) => MeasuredMetrics | null;
  /** True when FLEET has no message about the device, asked from its leader. */
  readonly isUnknown: (deviceId: DeviceId) => Promise<boolean>;
  readonly logger: Logger;
}

/** Tells of every fact that is folded in, by whom it is about. */
export interface FoldedLog {
  onChange(listener: (id: DeviceId) => void): void;
}

/** Keeps one projection at what the log says. Only the newest profile of a device is written: it is a view, not a history. */
export class ProfilesProjector extends Loop {
  readonly #options: ProjectorOptions;
  readonly #devices: DirtyKeys;

  constructor(options: ProjectorOptions) {
    super();
    const { name, logger } = options;
    this.#options = options;
    this.#devices = new DirtyKeys({
      process: (deviceId) => this.#project(deviceId),
      failed: (error, deviceId, failures) => {
        if (isStop(error)) return;
        const level = failures === 1 ? 'warn' : 'debug';
        logger[level]({ reason: String(error), deviceId, failures, projection: name }, 'projection: late');
      },
    });
  }

  /** Hears of what is folded in. What is said of the whole fleet changes the profile of every device. */
  following(log: FoldedLog): this {
    log.onChange((id) => {
      if (id === FLEET_ID) for (const { deviceId } of this.#options.state.all()) this.changed(deviceId);
      else if (id !== GRANTS_ID) this.changed(id);
    });
    return this;
  }

  changed(deviceId: DeviceId): void {
    this.#devices.mark(deviceId);
  }

  /** Resolves when the profiles of these devices say what the log said at this moment, or more; never when it is stopped. */
  async shows(deviceIds: readonly DeviceId[]): Promise<void> {
    await Promise.all(deviceIds.map((deviceId) => this.#devices.done(deviceId)));
  }

  isUpToDate(): boolean {
    return this.#devices.isClean();
  }

  /** Begins with everything the projection and the log know, so what went wrong while nobody was here is repaired. */
  async run(signal: AbortSignal): Promise<void> {
    const running = this.#devices.run(signal);
    for (const { deviceId } of this.#options.state.all()) this.#devices.mark(deviceId);
    for (const deviceId of await this.#stored()) this.#devices.mark(deviceId);
    await running;
  }

  async #stored(): Promise<DeviceId[]> {
    const { store, logger, name } = this.#options;
    try {
      return await store.list();
    } catch (error) {
      if (!isStop(error)) {
        logger.warn({ reason: String(error), projection: name }, 'projection: cannot look for leftovers');
      }
      return [];
    }
  }

  async #project(deviceId: DeviceId): Promise<void> {
    const { state, store, fleetHeld, isUnknown, metrics } = this.#options;
    const tracked = state.get(deviceId);
    if (tracked === undefined) {
      if (await isUnknown(deviceId)) await store.remove(deviceId);
      return;
    }
    await store.write(deviceId, async (stored) => {
      const held = await fleetHeld();
      const { device } = state.get(deviceId) ?? tracked;
      return profileOf(device, held, metrics(device, stored));
    });
  }
}

/** A store that waits for its server stops waiting when the process does. */
function isStop(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
