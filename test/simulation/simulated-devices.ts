import { LIMITS, type AgentProfile, type DeviceId } from '#proto';
import type { Faults } from './faults.js';
import type { Dice } from './random.js';
import { START_MS, type Scheduler } from './scheduler.js';
import type { Trace } from './trace.js';

const FLAPS_MAX = 8;
const AWAY_MS_MIN = 50;
const AWAY_MS_MAX = 4_000;
const RESTART_MS_MAX = 20_000;
/** From the closed socket until the registry calls the device suspect. */
const NOTICE_MS_MAX = 2_000;
/** Beyond the grace. */
const LOST_MS_MAX = 60_000;
const HELD_MS_MAX = 60_000;

export const DEVICES_MAX = 4;
const SYSTEMS = ['linux', 'linux', 'macos'] as const;
const TAGS = ['db', 'web'] as const;

/** A device, and what the registry says of it. */
export interface Device {
  readonly id: DeviceId;
  profile: AgentProfile;
  connected: boolean;
  /** Grows when it restarts: what it was doing then, it does not do any more. */
  life: number;
  /** Done when it is connected again, once each. */
  readonly uponConnection: (() => void)[];
}

export interface DeviceFleetParts {
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly dice: Dice;
  readonly trace: Trace;
  /** The registry has a new profile. */
  readonly changed: (profile: AgentProfile) => void;
  /** The registry has given a session up. */
  readonly lost: (device: Device) => void;
  /** What the device was doing is gone, its journal is not. */
  readonly crashed: (device: Device) => void;
}

/** Devices, their connections, and the registry that turns these into profiles. */
export class DeviceFleet {
  readonly devices: readonly Device[];
  readonly #parts: DeviceFleetParts;
  #view: { readonly devices: ReadonlyMap<DeviceId, AgentProfile> } | undefined;

  constructor(parts: DeviceFleetParts) {
    this.#parts = parts;
    const count = parts.dice.int(2, DEVICES_MAX);
    this.devices = Array.from({ length: count }, (_, index) => deviceOf(index, parts.dice));
  }

  /** The devices as they are; what they are made of never changes. */
  get view(): { readonly devices: ReadonlyMap<DeviceId, AgentProfile> } {
    this.#view ??= { devices: new Map(this.devices.map(({ profile }) => [profile.deviceId, profile])) };
    return this.#view;
  }

  get profiles(): AgentProfile[] {
    return this.devices.map(({ profile }) => profile);
  }

  find(id: DeviceId): Device {
    const device = this.devices.find((candidate) => candidate.id === id);
    if (device === undefined) throw new Error(`a task was started on ${id}, which is not enrolled`);
    return device;
  }

  tick(): void {
    const { faults } = this.#parts;
    const there = this.devices.filter(({ connected }) => connected);
    if (there.length === 0) return;
    const crash = faults.strike('device-crash', 'a device');
    if (crash !== undefined) this.#crash(crash.pick(there), crash.spread(10, RESTART_MS_MAX));
    const flapping = faults.strike('device-flapping', 'a device');
    if (flapping !== undefined) this.#flap(flapping.pick(there), flapping.int(1, FLAPS_MAX), flapping);
    const held = faults.strike('device-held', 'a device');
    if (held !== undefined) this.#hold(held.pick(there), held.spread(500, HELD_MS_MAX));
    const lost = faults.strike('device-lost', 'a device');
    if (lost !== undefined) this.#leave(lost.pick(there), LIMITS.deviceGraceMs + lost.between(0, LOST_MS_MAX));
  }

  /** Every device is there. */
  heal(): void {
    for (const device of this.devices) {
      this.#connect(device);
      this.#release(device);
    }
  }

  #hold(device: Device, ms: number): void {
    const { scheduler, trace } = this.#parts;
    if (device.profile.held !== null) return;
    trace.note(device.id, `is held for ${Math.round(ms)} ms`);
    const by = { kind: 'person', id: 'ops' } as const;
    this.#publish(device, { held: { by, reason: 'maintenance', heldAt: instant(scheduler.now()) } });
    scheduler.after(ms, () => this.#release(device));
  }

  #release(device: Device): void {
    if (device.profile.held !== null) this.#publish(device, { held: null });
  }

  #crash(device: Device, ms: number): void {
    device.life += 1;
    this.#leave(device, ms);
    this.#parts.crashed(device);
  }

  #flap(device: Device, times: number, dice: Dice): void {
    const { scheduler, faults } = this.#parts;
    if (times === 0 || faults.over) return;
    const away = dice.spread(AWAY_MS_MIN, AWAY_MS_MAX);
    this.#leave(device, away);
    scheduler.after(away + dice.between(10, 2_000), () => this.#flap(device, times - 1, dice));
  }

  #leave(device: Device, ms: number): void {
    const { scheduler, dice, trace } = this.#parts;
    if (!device.connected) return;
    trace.note(device.id, `is away for ${Math.round(ms)} ms`);
    device.connected = false;
    const session = device.profile.session?.sessionId;
    const isStillAway = () => !device.connected && device.profile.session?.sessionId === session;
    scheduler.after(dice.between(1, NOTICE_MS_MAX), () => {
      if (!isStillAway()) return;
      this.#publish(device, { status: 'suspect' });
      scheduler.after(LIMITS.deviceGraceMs, () => {
        if (!isStillAway()) return;
        this.#publish(device, { status: 'lost' });
        this.#parts.lost(device);
      });
    });
    scheduler.after(ms, () => this.#connect(device));
  }

  #connect(device: Device): void {
    const { scheduler, trace } = this.#parts;
    if (device.connected) return;
    device.connected = true;
    const revision = device.profile.revision + 1;
    trace.note(device.id, 'is back');
    const session = sessionOf(device.id, revision, scheduler.now());
    this.#publish(device, { status: 'connected', session });
    for (const then of device.uponConnection.splice(0)) then();
  }

  #publish(device: Device, change: Partial<AgentProfile>): void {
    const { scheduler, changed } = this.#parts;
    const { revision } = device.profile;
    device.profile = { ...device.profile, ...change, revision: revision + 1, changedAt: instant(scheduler.now()) };
    changed(device.profile);
  }
}

function deviceOf(index: number, dice: Dice): Device {
  const id = `dev-${index + 1}`;
  const profile: AgentProfile = {
    deviceId: id,
    status: 'connected',
    agent: 'LinuxAgent',
    // The first two satisfy every selector that workloads use.
    os: index < 2 ? 'linux' : dice.pick(SYSTEMS),
    arch: 'x64',
    hostname: id,
    capabilities: ['cli'],
    tags: index < 2 ? [...TAGS] : dice.some(TAGS, 0.5),
    tools: [
      { name: 'EXEC_CLI', description: '', readOnly: false },
      { name: 'SYS_INFO', description: '', readOnly: true },
    ],
    resources: { cpuCount: 2, memoryMb: 4_096 },
    tasksMax: dice.int(1, 6),
    held: null,
    session: sessionOf(id, 1, START_MS),
    revision: 1,
    enrolledAt: instant(START_MS),
    changedAt: instant(START_MS),
  };
  return { id, profile, connected: true, life: 1, uponConnection: [] };
}

function sessionOf(id: DeviceId, revision: number, now: number): NonNullable<AgentProfile['session']> {
  return { sessionId: `${id}-s${revision}`, gateway: 'gateway-1', journalId: `${id}-j`, connectedAt: instant(now) };
}

export function instant(ms: number): string {
  return new Date(ms).toISOString();
}
