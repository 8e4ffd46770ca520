import { FLEET_ID, GENESIS_HASH, GRANTS_ID, type DeviceHold, type DeviceId, type FleetCommit } from '#proto';
import { evolveClientCommit, type Client } from './client.js';
import { evolveDeviceCommit, evolveFleetHold, type Device } from './device.js';
import { evolveGrantRevocations, type GrantRevocation } from './grants.js';

/** Where the chain of a device, a client or the whole fleet ends. */
interface LogEnd {
  /** Stream sequence of the last message that is folded in. */
  readonly sequence: number;
  readonly number: number;
  readonly events: number;
  readonly hash: string;
}

interface Tracked extends LogEnd {
  readonly device: Device;
}

interface TrackedClient extends LogEnd {
  readonly client: Client;
}

/**
 * All devices and clients, folded from FLEET, with the way from a token to whose it is; and what is neither, the hold of the whole
 * fleet and the grants that were taken back. Every commit may be applied again.
 */
export class FleetState {
  readonly #devices = new Map<DeviceId, Tracked>();
  readonly #clientsById = new Map<DeviceId, TrackedClient>();
  #fleet: (LogEnd & { readonly held: DeviceHold | null }) | undefined;
  #grants: (LogEnd & { readonly revocations: readonly GrantRevocation[] }) | undefined;
  /** Of static tokens. */
  readonly #ownerByToken = new Map<string, DeviceId>();
  readonly #deviceByJoinToken = new Map<string, DeviceId>();
  readonly #cutOff = new Map<DeviceId, number>();

  get(deviceId: DeviceId): Tracked | undefined {
    return this.#devices.get(deviceId);
  }

  /** Of a device, a client, FLEET_ID or GRANTS_ID; undefined before its first fact. */
  endOf(id: DeviceId): LogEnd | undefined {
    if (id === FLEET_ID) return this.#fleet;
    return id === GRANTS_ID ? this.#grants : (this.#devices.get(id) ?? this.#clientsById.get(id));
  }

  /** By whom everything is held. */
  fleetHeld(): DeviceHold | null {
    return this.#fleet?.held ?? null;
  }

  /** Oldest first; the last ones may be over by now. */
  grantRevocations(): readonly GrantRevocation[] {
    return this.#grants?.revocations ?? [];
  }

  all(): Device[] {
    return [...this.#devices.values()].map(({ device }) => device);
  }

  client(id: DeviceId): Client | undefined {
    return this.#clientsById.get(id)?.client;
  }

  clients(): Client[] {
    return [...this.#clientsById.values()].map(({ client }) => client);
  }

  /** Whose static token this is. A lookup by hash: neither its time nor its answer says anything about other tokens. */
  ownerOf(tokenHash: string): DeviceId | undefined {
    return this.#ownerByToken.get(tokenHash);
  }

  /** The device that may be joined with this token, or was. */
  deviceToJoin(tokenHash: string): DeviceId | undefined {
    return this.#deviceByJoinToken.get(tokenHash);
  }

  /** Who lost credentials by a message of FLEET after this one, up to that one; it may have new ones since. */
  cutOffBetween(after: number, upTo: number): DeviceId[] {
    return [...this.#cutOff].filter(([, sequence]) => sequence > after && sequence <= upTo).map(([id]) => id);
  }

  /** Folds a stored commit in; one that is in already changes nothing. */
  apply({ commit, sequence }: { readonly commit: FleetCommit; readonly sequence: number }): void {
    const { deviceId } = commit;
    const before = this.endOf(deviceId);
    if (before !== undefined && sequence <= before.sequence) return;
    if (commit.number !== (before?.number ?? 0) + 1 || commit.prevHash !== (before?.hash ?? GENESIS_HASH)) {
      throw new Error(`commit ${commit.number} of ${deviceId} does not continue its chain`);
    }
    const events = (before?.events ?? 0) + commit.events.length;
    const end: LogEnd = { sequence, number: commit.number, events, hash: commit.hash };
    if (deviceId === FLEET_ID) this.#fleet = { ...end, held: evolveFleetHold(this.fleetHeld(), commit) };
    else if (deviceId === GRANTS_ID) {
      this.#grants = { ...end, revocations: evolveGrantRevocations(this.grantRevocations(), commit) };
    } else if (this.#isAboutClient(commit)) this.#applyToClient(commit, end);
    else this.#applyToDevice(commit, end);
  }

  /** The first fact about an id says what it is, for ever. */
  #isAboutClient({ deviceId, events }: FleetCommit): boolean {
    if (this.#devices.has(deviceId)) return false;
    return this.#clientsById.has(deviceId) || events[0]?.type === 'CLIENT_ENROLLED';
  }

  #applyToDevice(commit: FleetCommit, end: LogEnd): void {
    const { deviceId } = commit;
    const before = this.#devices.get(deviceId)?.device;
    const device = evolveDeviceCommit(before, commit);
    if (device === undefined) return;
    this.#devices.set(deviceId, { ...end, device });
    move(this.#ownerByToken, deviceId, { from: [before?.credentialHash], to: [device.credentialHash] });
    const tokens = (of: Device | undefined) => [of?.join?.tokenHash, of?.key?.tokenHash];
    move(this.#deviceByJoinToken, deviceId, { from: tokens(before), to: tokens(device) });
    // Also when it has joined again by now: what it was let in with before may still be open somewhere.
    if (before !== undefined && hasLost(before, device)) this.#cutOff.set(deviceId, end.sequence);
  }

  #applyToClient(commit: FleetCommit, end: LogEnd): void {
    const { deviceId } = commit;
    const before = this.#clientsById.get(deviceId)?.client;
    const client = evolveClientCommit(before, commit);
    if (client === undefined) return;
    this.#clientsById.set(deviceId, { ...end, client });
    move(this.#ownerByToken, deviceId, { from: [before?.credentialHash], to: [client.credentialHash] });
    if (before !== undefined && hasLost(before, client)) this.#cutOff.set(deviceId, end.sequence);
  }
}

type Hashes = readonly (string | null | undefined)[];

function move(owners: Map<string, DeviceId>, owner: DeviceId, { from, to }: { from: Hashes; to: Hashes }): void {
  for (const hash of from) if (typeof hash === 'string') owners.delete(hash);
  for (const hash of to) if (typeof hash === 'string') owners.set(hash, owner);
}

interface Holder {
  readonly credentialHash: string | null;
  readonly key?: Device['key'];
}

function hasLost(before: Holder, after: Holder): boolean {
  if (before.credentialHash !== null && before.credentialHash !== after.credentialHash) return true;
  return (before.key ?? null) !== null && before.key?.publicKey !== after.key?.publicKey;
}
