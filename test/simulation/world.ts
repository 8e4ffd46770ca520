import type { decide } from '#libs/constellation';
import type { AttemptLog } from '#libs/event-log';
import { storedEnds } from '../../services/orchestrator/runs/attempt-ends.client.js';
import type { Bug, Ports } from './bugs.js';
import type { Failure } from './failure.js';
import { Faults } from './faults.js';
import { Liveness } from './liveness.js';
import type { Process } from './process.js';
import { Dice } from './random.js';
import { Replicas } from './replicas.js';
import { Scheduler, START_MS } from './scheduler.js';
import { Approvers } from './simulated-approvers.js';
import { Attempts } from './simulated-attempts.js';
import { Bus } from './simulated-bus.js';
import { DeviceFleet } from './simulated-devices.js';
import { LogClient, LogServer, type StoredCommit } from './simulated-log.js';
import { Operators } from './simulated-operators.js';
import { Planner } from './simulated-planner.js';
import { TimerClient, TimerServer } from './simulated-timers.js';
import { Trace } from './trace.js';
import { WorldAudit } from './world-audit.js';

export interface WorldOptions {
  readonly seed: number;
  readonly bug: Bug;
  readonly only: ReadonlySet<string> | undefined;
  readonly verbose: boolean;
  /** When faults end, milliseconds since the start. */
  readonly horizon: number;
  /** What a replica decides with. */
  readonly decide: typeof decide;
}

const NO_PLANNER_SHARE = 0.15;
const FLEET_LIMIT_SHARE = 0.15;

/** All parts of a simulated system, and who hears of whom. Each part throws its own dice. */
export class World {
  readonly scheduler = new Scheduler();
  readonly faults: Faults;
  readonly trace: Trace;
  readonly log: LogServer;
  readonly timers: TimerServer;
  readonly bus: Bus;
  readonly fleet: DeviceFleet;
  readonly attempts: Attempts;
  readonly replicas: Replicas;
  readonly approvers: Approvers;
  readonly planner: Planner;
  readonly operators: Operators;
  readonly audit: WorldAudit;
  readonly liveness: Liveness;
  readonly #options: WorldOptions;
  readonly #hasPlanner: boolean;
  #failure: Failure | null = null;

  constructor(options: WorldOptions) {
    const { seed, only, verbose, horizon } = options;
    const { scheduler } = this;
    this.#options = options;
    this.#hasPlanner = !this.dice('planner is there').chance(NO_PLANNER_SHARE);
    const faults = (this.faults = new Faults(seed, scheduler, only));
    const trace = (this.trace = new Trace(scheduler, verbose));
    const isAway = () => this.log.isAway;
    const common = { scheduler, faults, trace, fail: (check: string, message: string) => this.fail(check, message) };
    this.log = new LogServer(scheduler, (message) => this.#stored(message));
    this.timers = new TimerServer({ ...common, due: (runId, at) => this.#due(runId, at) });
    const bus = (this.bus = new Bus({
      ...common,
      isAway,
      dice: this.dice('bus'),
      horizon: START_MS + horizon,
      answered: (message, answer) => this.audit.answered(message, answer),
    }));
    const fleet = (this.fleet = new DeviceFleet({
      ...common,
      dice: this.dice('fleet'),
      changed: (profile) => this.replicas.profile(profile),
      lost: (device) => this.attempts.lost(device),
      crashed: (device) => this.attempts.crashed(device),
    }));
    const begins = (attempt: Parameters<WorldAudit['begins']>[0]) => this.audit.begins(attempt);
    const attempts = (this.attempts = new Attempts({
      ...common,
      bus,
      fleet,
      begins,
      acts: (attempt, approvalId) => this.audit.acts(attempt, approvalId),
      seed,
      dice: this.dice('attempts'),
    }));
    const replicas = (this.replicas = new Replicas({
      ...common,
      bus,
      isAway,
      dice: this.dice('replicas'),
      hasPlanner: this.#hasPlanner,
      tasksMax: tasksMaxOf(this.dice('tasksMax')),
      profiles: () => fleet.profiles,
      endsOf: (process, run) => storedEnds(attempts.logFor(process) as AttemptLog, run),
      ports: (process) => this.#ports(process),
    }));
    const blinded = () => replicas.disturbances + replicas.living.length;
    const audit = (this.audit = new WorldAudit({ ...common, fleet, attempts, blinded }));
    this.liveness = new Liveness({ ...common, audit, fleet, attempts, bus, replicas });
    const devices = fleet.devices.map(({ id }) => id);
    this.planner = new Planner({ ...common, bus, devices, dice: this.dice('planner'), runOf: (id) => audit.runOf(id) });
    this.approvers = new Approvers({ ...common, bus, seed });
    this.operators = new Operators({ ...common, bus, devices, audit });
  }

  /** The first thing that did not hold. */
  get failure(): Failure | null {
    return this.#failure;
  }

  dice(name: string): Dice {
    return new Dice(this.#options.seed, name);
  }

  fail(check: string, message: string): void {
    if (this.#failure !== null) return;
    this.#failure = { check, message, at: this.scheduler.elapsed };
    this.trace.note('FAILED', `${check}: ${message}`);
    this.scheduler.stop();
  }

  #ports(process: Process): Ports {
    const { scheduler, faults } = this;
    const { bug, decide: proper } = this.#options;
    const Client = bug.log ?? LogClient;
    const log = new Client({ server: this.log, process, scheduler, faults, dice: this.dice('log') });
    const isAway = () => this.log.isAway;
    const timers = new TimerClient({ server: this.timers, process, faults, isAway, dice: this.dice('timers') });
    return { log, wakeUps: bug.wakeUps?.(timers) ?? timers, decide: bug.decide?.(proper) ?? proper };
  }

  #stored(message: StoredCommit): void {
    const { commit } = message;
    const { instance } = commit.by;
    const events = commit.events.map(({ type, data }) => `${type}${'taskId' in data ? ` ${data.taskId}` : ''}`);
    this.trace.note('RUNS', `${commit.runId.slice(0, 6)} ${commit.number} by ${instance}: ${events.join(', ')}`);
    this.audit.take(message);
    this.attempts.follow(commit);
    this.approvers.follow(commit);
    if (this.#hasPlanner) this.planner.follow(commit);
    const writer = this.replicas.living.find(({ name }) => name === instance);
    if (writer !== undefined) this.replicas.publishSoon(writer);
  }

  #due(runId: string, at: number): void {
    const instant = new Date(at).toISOString();
    const waiting = {
      input: { kind: 'wake' },
      cause: { kind: 'timer', id: instant },
      bytes: 0,
      due: true,
      at,
    } as const;
    const about = `wake-up of ${runId.slice(0, 6)} for +${at - START_MS}`;
    this.bus.publish({ stream: 'TIMERS', runId, about, read: () => waiting });
  }
}

/** A fleet with a limit of its own now and then. */
function tasksMaxOf(dice: Dice): number {
  return dice.chance(FLEET_LIMIT_SHARE) ? dice.int(2, 8) : Infinity;
}
