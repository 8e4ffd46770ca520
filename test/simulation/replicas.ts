import { pino } from 'pino';
import {
  LONE_PULL_EXPIRY_MS,
  partitionOf,
  PARTITIONS,
  PULL_EXPIRY_MS,
  type AgentProfile,
  type DeviceId,
  type RunId,
} from '#proto';
import { judgedInPlace, type Run } from '#libs/constellation';
import { partitionsOf } from '#libs/messaging';
import { Fleet } from '../../services/orchestrator/fleet/fleet.js';
import { RunServer, type RunServerParts } from '../../services/orchestrator/runs/run-server.handler.js';
import type { StoredEnd } from '../../services/orchestrator/runs/served-run.js';
import type { Bus } from './simulated-bus.js';
import type { Faults } from './faults.js';
import { Process } from './process.js';
import type { Dice } from './random.js';
import type { Scheduler } from './scheduler.js';
import type { Trace } from './trace.js';

/** One orchestrator: the real shell in a simulated process. */
export interface Replica {
  readonly name: string;
  readonly process: Process;
  readonly server: RunServer;
  readonly fleet: Fleet;
  /** The partitions it believes to own: a frozen one goes on believing. */
  owned: ReadonlySet<number>;
  /** When it ceased to own a partition: it finishes what it has taken. */
  readonly lostAt: Map<number, number>;
  /** Running tasks per device, as it published them last. */
  published: ReadonlyMap<DeviceId, number>;
  publishing: boolean;
  /** Its key in the bucket of members has not expired. */
  isMember: boolean;
  /** Until when it counts itself a member; Infinity while it renews its key in time. */
  leaseEnds: number;
  /** The server still sends what it asked for before it froze. */
  pullsUntil: number;
  /** When the last profile that was sent to it arrives. */
  profilesUntil: number;
}

export interface ReplicaParts {
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly dice: Dice;
  readonly trace: Trace;
  readonly bus: Bus;
  /** The server answers nobody. */
  readonly isAway: () => boolean;
  /** Somebody makes plans. */
  readonly hasPlanner: boolean;
  /** Tasks that may run in the whole fleet. */
  readonly tasksMax: number;
  readonly profiles: () => readonly AgentProfile[];
  readonly endsOf: (process: Process, run: Run) => Promise<StoredEnd[]>;
  /** The ports of a new replica. */
  readonly ports: (process: Process) => Pick<RunServerParts, 'log' | 'wakeUps' | 'decide'>;
}

const AGENTS: ReadonlySet<string> = new Set(['LinuxAgent']);
const logger = pino({ level: 'silent' });
const HEARTBEAT_MS = 500;
/** While nothing is heard of a replica its heartbeats are looked at less often, which nobody notices and costs less. */
const STEADY_MS = 4_000;
const MEMBER_TTL_MS = 2_000;
const DRAIN_MS = 5_000;
const PROFILE_DELAY_MS_MAX = 8_000;
const RESTART_MS_MAX = 3_000;
const FREEZE_MS_MIN = 300;
const FREEZE_MS_MAX = 60_000;
const REPLICAS_MAX = 4;
/** How far the clock of a replica may be off, either way. */
export const SKEW_MS_MAX = 3_000;

/** The replicas of the orchestrator, who of them is a member, and what each believes to own. */
export class Replicas {
  /** Times at which a run's tasks may have stopped being counted where they were. */
  disturbances = 0;
  /** Inputs that went to a replica that does not own their run: the one that does may hear of what followed only from its timer. */
  strays = 0;
  readonly #parts: ReplicaParts;
  readonly #replicas: Replica[] = [];
  #born = 0;
  #commits = 0;

  constructor(parts: ReplicaParts) {
    this.#parts = parts;
  }

  get living(): readonly Replica[] {
    return this.#replicas;
  }

  join(): Replica {
    const { scheduler, dice, bus, trace, profiles, endsOf, ports, hasPlanner, tasksMax } = this.#parts;
    const process = new Process(scheduler);
    const name = `orc-${++this.#born}`;
    const fleet = new Fleet(tasksMax);
    for (const profile of profiles()) fleet.profile(profile);
    fleet.completed(scheduler.now());
    fleet.agents(AGENTS);
    const skew = Math.round(this.#parts.faults.strike('clock-skewed', name)?.between(-SKEW_MS_MAX, SKEW_MS_MAX) ?? 0);
    const turn = () => process.sleep(dice.spread(0.01, 1));
    const server = new RunServer({
      ...ports(process),
      endsOf: (run) => endsOf(process, run),
      fleet,
      clock: { now: () => scheduler.now() + skew },
      by: { service: 'orchestrator', instance: name },
      logger,
      planner: () => hasPlanner,
      judge: async (questions) => questions.map(judgedInPlace),
      alive: () => scheduler.now() < replica.leaseEnds,
      turn,
      commitId: (now) => commitIdOf(now, ++this.#commits),
    });
    const replica: Replica = {
      name,
      process,
      server,
      fleet,
      owned: new Set(),
      lostAt: new Map(),
      published: new Map(),
      publishing: false,
      isMember: true,
      leaseEnds: Infinity,
      pullsUntil: Infinity,
      profilesUntil: 0,
    };
    server.drop((runId) => replica.owned.has(partitionOf(runId)));
    this.#replicas.push(replica);
    trace.note(name, 'joins');
    bus.connect(this);
    this.#membersChanged();
    return replica;
  }

  /** Who takes the next message about the run: one of those that believe to own it, or one that has just ceased to. */
  consumerOf(runId: RunId): Replica | undefined {
    const now = this.#parts.scheduler.now();
    const partition = partitionOf(runId);
    const pulling = this.#replicas.filter(({ pullsUntil }) => now < pullsUntil);
    const drained = pulling.filter(
      ({ owned, lostAt }) => !owned.has(partition) && (lostAt.get(partition) ?? 0) > now - DRAIN_MS,
    );
    const astray = drained.length > 0 ? this.#parts.faults.strike('input-misdirected', runId) : undefined;
    if (astray !== undefined) {
      this.strays += 1;
      return astray.pick(drained);
    }
    const consumers = pulling.filter(({ owned }) => owned.has(partition));
    const [one] = consumers;
    return consumers.length > 1 ? this.#parts.dice.pick(consumers) : one;
  }

  /** Half a second has passed: whatever is to befall a replica befalls it. */
  tick(): void {
    const { faults, dice } = this.#parts;
    if (this.#replicas.length === 0) return;
    const crash = faults.strike('replica-crash', 'a replica');
    if (crash !== undefined) this.crash(crash.pick(this.#replicas), crash.between(0, RESTART_MS_MAX));
    const running = this.#replicas.filter(({ process }) => process.state === 'running');
    if (running.length === 0) return;
    const freeze = faults.strike('replica-freeze', 'a replica');
    if (freeze !== undefined) this.freeze(freeze.pick(running), freeze.spread(FREEZE_MS_MIN, FREEZE_MS_MAX));
    const scaled = faults.strike('replica-scaled', 'the replicas');
    if (scaled === undefined) return;
    if (this.#replicas.length < REPLICAS_MAX && (this.#replicas.length === 1 || scaled.chance(0.5))) this.join();
    else this.crash(dice.pick(this.#replicas), null);
  }

  /** Gone with all its memory; another one starts after `restartMs`, none when it is null and others are there. */
  crash(replica: Replica, restartMs: number | null): void {
    const { scheduler, bus, trace } = this.#parts;
    if (replica.process.state === 'dead') return;
    trace.note(replica.name, 'dies');
    this.disturbances += 1;
    replica.process.kill();
    this.#replicas.splice(this.#replicas.indexOf(replica), 1);
    bus.silent(replica);
    scheduler.after(MEMBER_TTL_MS, () => this.#membersChanged());
    this.#dead.set(replica.name, scheduler.now() + MEMBER_TTL_MS);
    if (restartMs !== null || this.#replicas.length === 0) scheduler.after(restartMs ?? 0, () => void this.join());
  }

  /** Stopped for so long. The others take over when its key expires; it notices that when it is woken. */
  freeze(replica: Replica, ms: number): void {
    const { scheduler, bus, trace, dice } = this.#parts;
    trace.note(replica.name, `freezes for ${Math.round(ms)} ms`);
    this.disturbances += 1;
    replica.process.freeze();
    replica.leaseEnds = scheduler.now() + MEMBER_TTL_MS - dice.between(0, HEARTBEAT_MS);
    replica.pullsUntil = scheduler.now() + (replica.owned.size === PARTITIONS ? LONE_PULL_EXPIRY_MS : PULL_EXPIRY_MS);
    bus.silent(replica);
    scheduler.after(MEMBER_TTL_MS, () => {
      if (replica.process.state !== 'frozen') return;
      replica.isMember = false;
      this.#membersChanged();
    });
    scheduler.after(ms, () => this.#thaw(replica));
  }

  /** Everybody is there and well. */
  heal(): void {
    for (const replica of this.#replicas) this.#thaw(replica);
    this.#membersChanged();
    if (this.#replicas.length === 0) this.join();
  }

  /** A profile on its way to every replica; each sees the profiles of the fleet in their order. */
  profile(profile: AgentProfile): void {
    const { scheduler, faults, dice } = this.#parts;
    for (const replica of this.#replicas) {
      const delay = faults.strike('profile-delayed', `${profile.deviceId} at ${replica.name}`);
      const way = dice.spread(0.5, 20) + (delay?.between(0, PROFILE_DELAY_MS_MAX) ?? 0);
      replica.profilesUntil = Math.max(replica.profilesUntil, scheduler.now() + way);
      scheduler.at(replica.profilesUntil, () => replica.process.post(() => replica.fleet.profile(profile)));
    }
  }

  /** What a replica says of its running tasks reaches the others with the heartbeats. */
  publishSoon(replica: Replica, withinMs = HEARTBEAT_MS): void {
    const { scheduler, dice } = this.#parts;
    if (replica.publishing || this.#replicas.length < 2) return;
    replica.publishing = true;
    scheduler.after(dice.between(0, withinMs), () =>
      replica.process.post(() => {
        replica.publishing = false;
        const before = replica.published;
        replica.published = new Map([...replica.fleet.own].filter(([, count]) => count > 0));
        const isSame =
          before.size === replica.published.size &&
          [...before].every(([id, count]) => replica.published.get(id) === count);
        if (!isSame) this.#tellOthers();
        if (replica.published.size > 0) this.publishSoon(replica, STEADY_MS);
      }),
    );
  }

  readonly #dead = new Map<string, number>();

  #thaw(replica: Replica): void {
    const { scheduler, trace, dice } = this.#parts;
    if (replica.process.state !== 'frozen') return;
    trace.note(replica.name, 'thaws');
    replica.pullsUntil = Infinity;
    replica.process.thaw();
    // What was in its sockets may be served before the timer of its lease.
    const isOver = () => scheduler.now() >= replica.leaseEnds;
    scheduler.after(dice.spread(0.01, 50), () => replica.process.post(() => isOver() && this.#own(replica, new Set())));
    this.#beatSoon(replica);
  }

  /** The server is away for so long: nobody can renew its key, and with its lease everybody loses what it owns. */
  cutOff(ms: number): void {
    const { scheduler } = this.#parts;
    scheduler.after(ms, () => this.#membersChanged());
    if (ms < MEMBER_TTL_MS) return;
    scheduler.after(MEMBER_TTL_MS, () => {
      if (!this.#parts.isAway()) return;
      for (const replica of this.#replicas) {
        replica.leaseEnds = Math.min(replica.leaseEnds, scheduler.now());
        replica.isMember = false;
        replica.process.post(() => this.#own(replica, new Set()));
      }
    });
  }

  #membersChanged(): void {
    for (const replica of this.#replicas) this.#beatSoon(replica);
  }

  #beatSoon(replica: Replica): void {
    const { scheduler, dice, isAway } = this.#parts;
    scheduler.after(dice.between(50, HEARTBEAT_MS), () => {
      // A beat that is asked for meanwhile begins when it can.
      if (replica.process.state === 'running' && !isAway()) this.#beat(replica);
    });
  }

  /** Renews the key, reads those of the others, and takes what they leave to it. */
  #beat(replica: Replica): void {
    const now = this.#parts.scheduler.now();
    for (const [name, until] of this.#dead) if (until <= now) this.#dead.delete(name);
    const wasMember = replica.isMember;
    replica.isMember = true;
    replica.leaseEnds = Infinity;
    const members = this.#replicas.filter(({ isMember }) => isMember).map(({ name }) => name);
    const seen = [...new Set([...members, ...this.#dead.keys()])].toSorted();
    this.#own(replica, new Set(partitionsOf(replica.name, seen)));
    this.#tell(replica);
    if (!wasMember) this.#membersChanged();
  }

  #own(replica: Replica, owned: ReadonlySet<number>): void {
    const lost = [...replica.owned].filter((partition) => !owned.has(partition));
    replica.owned = owned;
    if (lost.length === 0) return;
    for (const partition of lost) replica.lostAt.set(partition, this.#parts.scheduler.now());
    this.disturbances += 1;
    replica.server.drop((runId) => replica.owned.has(partitionOf(runId)));
    this.publishSoon(replica);
  }

  #tellOthers(): void {
    const { scheduler, dice } = this.#parts;
    for (const replica of this.#replicas) {
      scheduler.after(dice.between(0, HEARTBEAT_MS), () => replica.process.post(() => this.#tell(replica)));
    }
  }

  #tell(replica: Replica): void {
    const sum = new Map<DeviceId, number>();
    for (const { published, isMember } of this.#replicas.filter((other) => other !== replica)) {
      if (!isMember) continue;
      for (const [deviceId, count] of published) sum.set(deviceId, (sum.get(deviceId) ?? 0) + count);
    }
    replica.fleet.others(sum);
  }
}

/** Looks like a ULID, is unique, and is the same in every run of the seed. */
function commitIdOf(now: number, count: number): string {
  const text = (value: number, length: number) => value.toString(32).toUpperCase().padStart(length, '0').slice(-length);
  return `${text(now, 10)}${text(count, 16)}`.replaceAll(/[ILOU]/gu, (letter) => CROCKFORD[letter] ?? letter);
}

/** Letters that a ULID does not use. */
const CROCKFORD: Readonly<Record<string, string>> = { I: 'W', L: 'X', O: 'Y', U: 'Z' };
