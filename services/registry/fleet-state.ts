import { FLEET_ID, GENESIS_HASH } from '#proto';
import type { CommitAuthor, Cause, DeviceHold, DeviceId, FleetCommit, FleetEvent } from '#proto';
import { sealCommit, type Stored } from '#libs/event-log';
import { evolveCommit, evolveFleetHold, type Device } from './device.js';

/** The end of the log of a device, or of the whole fleet: what its next commit continues. */
export interface LogEnd {
  /** Stream sequence of the last message that is folded in. */
  readonly end: number;
  readonly number: number;
  readonly hash: string;
  /** Sequence of the last event. */
  readonly revision: number;
}

export interface Tracked extends LogEnd {
  readonly device: Device;
}

/**
 * All devices, folded from FLEET, with the way from a credential to its device, and the hold of the whole fleet, which is no
 * device. Every commit may be applied again.
 */
export class FleetState {
  private readonly devices = new Map<DeviceId, Tracked>();
  private fleet: (LogEnd & { readonly held: DeviceHold | null }) | undefined;
  private readonly deviceByCredential = new Map<string, DeviceId>();

  get(deviceId: DeviceId): Tracked | undefined {
    return this.devices.get(deviceId);
  }

  /** Of a device or of FLEET_ID; undefined before its first fact. */
  endOf(id: DeviceId): LogEnd | undefined {
    return id === FLEET_ID ? this.fleet : this.devices.get(id);
  }

  /** By whom everything is held. */
  fleetHeld(): DeviceHold | null {
    return this.fleet?.held ?? null;
  }

  all(): Device[] {
    return [...this.devices.values()].map(({ device }) => device);
  }

  /** A lookup by hash: neither its time nor its answer says anything about other credentials. */
  deviceOf(credentialHash: string): DeviceId | undefined {
    return this.deviceByCredential.get(credentialHash);
  }

  /** Folds a stored commit in; one that is in already changes nothing. */
  apply({ commit, sequence }: Stored<FleetCommit>): void {
    const before = this.endOf(commit.deviceId);
    if (before !== undefined && sequence <= before.end) return;
    if (commit.number !== (before?.number ?? 0) + 1 || commit.prevHash !== (before?.hash ?? GENESIS_HASH)) {
      throw new Error(`commit ${commit.number} of ${commit.deviceId} does not continue its chain`);
    }
    const revision = (before?.revision ?? 0) + commit.events.length;
    const end: LogEnd = { end: sequence, number: commit.number, hash: commit.hash, revision };
    if (commit.deviceId === FLEET_ID) this.fleet = { ...end, held: evolveFleetHold(this.fleetHeld(), commit) };
    else this.applyToDevice(commit, end);
  }

  private applyToDevice(commit: FleetCommit, end: LogEnd): void {
    const { deviceId } = commit;
    const before = this.devices.get(deviceId)?.device;
    const device = evolveCommit(before, commit);
    if (device === undefined) return;
    this.devices.set(deviceId, { ...end, device });
    if (before !== undefined) this.deviceByCredential.delete(before.credentialHash);
    this.deviceByCredential.set(device.credentialHash, deviceId);
  }
}

export interface CommitStamp {
  readonly commit: string;
  readonly now: number;
  readonly by: CommitAuthor;
  readonly causes: readonly Cause[];
}

/** The next commit of the chain of a device, or of the whole fleet. */
export function nextCommit(
  deviceId: DeviceId,
  before: LogEnd | undefined,
  events: readonly FleetEvent[],
  stamp: CommitStamp,
): FleetCommit {
  const revision = before?.revision ?? 0;
  const draft = {
    commit: stamp.commit,
    number: (before?.number ?? 0) + 1,
    at: new Date(stamp.now).toISOString(),
    by: stamp.by,
    causes: [...stamp.causes],
    deviceId,
    events: events.map((event, index) => ({
      id: `${stamp.commit}.${index}`,
      sequence: revision + index + 1,
      schemaVersion: 1,
      ...event,
    })),
  };
  return sealCommit(draft, before?.hash ?? GENESIS_HASH);
}
