import { GENESIS_HASH } from '#proto';
import type { CommitAuthor, Cause, DeviceId, FleetCommit, FleetEvent } from '#proto';
import { sealCommit, type Stored } from '#libs/event-log';
import { evolveCommit, type Device } from './device.js';

/** A device with the end of its log: what its next commit continues. */
export interface Tracked {
  readonly device: Device;
  /** Stream sequence of the last message that is folded in. */
  readonly end: number;
  readonly number: number;
  readonly hash: string;
}

/** All devices, folded from FLEET, with the way from a credential to its device. Every commit may be applied again. */
export class FleetState {
  private readonly devices = new Map<DeviceId, Tracked>();
  private readonly deviceByCredential = new Map<string, DeviceId>();

  get(deviceId: DeviceId): Tracked | undefined {
    return this.devices.get(deviceId);
  }

  all(): Device[] {
    return [...this.devices.values()].map(({ device }) => device);
  }

  /** A lookup by hash: neither its time nor its answer says anything about other credentials. */
  deviceOf(credentialHash: string): DeviceId | undefined {
    return this.deviceByCredential.get(credentialHash);
  }

  /** Folds a stored commit in; one that is in already changes nothing. */
  apply({ commit, sequence }: Stored<FleetCommit>): Tracked | undefined {
    const before = this.devices.get(commit.deviceId);
    if (before !== undefined && sequence <= before.end) return before;
    if (commit.number !== (before?.number ?? 0) + 1 || commit.prevHash !== (before?.hash ?? GENESIS_HASH)) {
      throw new Error(`commit ${commit.number} of ${commit.deviceId} does not continue its chain`);
    }
    const device = evolveCommit(before?.device, commit);
    if (device === undefined) return undefined;
    const tracked = { device, end: sequence, number: commit.number, hash: commit.hash };
    this.devices.set(commit.deviceId, tracked);
    if (before !== undefined) this.deviceByCredential.delete(before.device.credentialHash);
    this.deviceByCredential.set(device.credentialHash, commit.deviceId);
    return tracked;
  }
}

export interface CommitStamp {
  readonly commit: string;
  readonly now: number;
  readonly by: CommitAuthor;
  readonly causes: readonly Cause[];
}

/** The next commit of a device's chain. */
export function nextCommit(
  deviceId: DeviceId,
  before: Tracked | undefined,
  events: readonly FleetEvent[],
  stamp: CommitStamp,
): FleetCommit {
  const revision = before?.device.revision ?? 0;
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
