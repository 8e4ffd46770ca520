import { decide, type Run } from '#libs/constellation';
import { requestedOf } from '../../services/orchestrator/inputs/submission.js';
import { type BugName, BUGS } from './bugs.js';
import type { Failure } from './failure.js';
import type { Strike } from './faults.js';
import { checkLiveFold } from './live-fold.js';
import { Dice } from './random.js';
import { type Submitted, workloadOf } from './workload.js';
import { World } from './world.js';

export interface SimulationOptions {
  readonly seed: number;
  readonly bug?: BugName | undefined;
  /** The ids of the requests that are sent and of the faults that may strike; all of the seed's when absent. */
  readonly only?: ReadonlySet<string> | undefined;
  /** Keeps the trace as text. */
  readonly verbose?: boolean | undefined;
}

export interface SimulationResult {
  readonly seed: number;
  readonly failure: Failure | null;
  readonly strikes: readonly Strike[];
  /** The same for the same seed, whatever machine. */
  readonly hash: string;
  readonly lines: readonly string[];
  /** Ids of the requests that were sent. */
  readonly requests: readonly string[];
  readonly tasks: number;
  readonly commits: number;
  readonly events: number;
  readonly virtualMs: number;
}

const TICK_MS = 500;
/** Faults end after this, and what is not at rest must come to it. */
const HORIZON_MS_MIN = 15_000;
const HORIZON_MS_MAX = 180_000;
/** After the horizon everybody has this long to notice that all is well again. */
const HEALING_MS = 20_000;
const LOOK_MS = 10_000;
/** The longest timeout, its grace, and some: nobody waits for longer once nothing goes wrong. */
const REST_MS_MAX = 3_600_000;
const EVENTS_MAX = 200_000;
/** Comparing whole states costs as much as deciding several times. */
const LIVE_FOLD_EVERY = 16;
const AWAY_MS_MIN = 200;
const AWAY_MS_MAX = 45_000;

/** Lets one seed happen from its first request to its rest, and says what did not hold. */
export async function simulate(options: SimulationOptions): Promise<SimulationResult> {
  return new Simulation(options).run();
}

/**
 * The course of a simulation:
 *
 *   ticking: requests come, faults strike ──horizon──► looking: all is well, nothing owed is late ──at rest──► settling
 *        └──────────────────────── at rest ────────────────────────────────────────────────────────────────────┘
 *   settling: wake-ups that nobody needs fire, and then nothing may be left
 */
class Simulation {
  readonly #seed: number;
  readonly #horizon: number;
  readonly #world: World;
  readonly #workload: readonly Submitted[];
  #decisions = 0;

  constructor({ seed, bug, only, verbose = false }: SimulationOptions) {
    this.#seed = seed;
    this.#horizon = new Dice(seed, 'horizon').spread(HORIZON_MS_MIN, HORIZON_MS_MAX);
    const judged: typeof decide = (run, inputs, circumstances) => {
      this.#judge(run);
      return decide(run, inputs, circumstances);
    };
    const planted = bug === undefined ? {} : BUGS[bug];
    const horizon = this.#horizon;
    this.#world = new World({ seed, bug: planted, only, verbose, horizon, decide: judged });
    const devices = this.#world.fleet.devices.map(({ id }) => id);
    const workload = workloadOf(this.#world.dice('workload'), devices, this.#world.dice('agents'));
    this.#workload = workload.filter(({ submission }) => only?.has(submission.request.requestId) !== false);
  }

  async run(): Promise<SimulationResult> {
    const { scheduler, replicas } = this.#world;
    for (let replica = this.#world.dice('start').int(1, 3); replica > 0; replica--) replicas.join();
    for (const submitted of this.#workload) scheduler.after(submitted.at, () => this.#submit(submitted));
    scheduler.after(TICK_MS, () => this.#tick());
    try {
      if (!(await scheduler.run(EVENTS_MAX))) this.#world.fail('RUNAWAY', `${EVENTS_MAX} events and no end`);
    } catch (error) {
      this.#world.fail('CRASH', error instanceof Error ? (error.stack ?? error.message) : String(error));
    }
    return this.#result();
  }

  #result(): SimulationResult {
    const { failure, faults, trace, audit, scheduler } = this.#world;
    const requests = this.#workload.map(({ submission }) => submission.request);
    return {
      seed: this.#seed,
      failure,
      strikes: faults.struck,
      hash: trace.hash,
      lines: trace.lines,
      requests: requests.map(({ requestId }) => requestId),
      tasks: requests.reduce((sum, { constellation }) => sum + (constellation?.tasks.length ?? 0), 0),
      commits: audit.commits,
      events: scheduler.happened,
      virtualMs: Math.round(scheduler.elapsed),
    };
  }

  #judge(run: Run): void {
    this.#decisions += 1;
    if (this.#decisions % LIVE_FOLD_EVERY !== 0) return;
    const fold = this.#world.audit.runs.get(run.runId)?.folds[run.number];
    checkLiveFold(run, fold, (check, message) => this.#world.fail(check, message));
  }

  #submit({ submission }: Submitted): void {
    const { runId, request, bytes } = submission;
    const actor = { kind: 'external', id: 'default' } as const;
    const asker = { actor, trusted: true } as const;
    const cause = { kind: 'request', id: request.requestId } as const;
    const read = (now: number) => {
      const input = { kind: 'submit', requested: requestedOf(submission, asker, now) } as const;
      return { input, cause, bytes };
    };
    this.#world.bus.publish({ stream: 'REQUESTS', runId, about: request.requestId, read });
  }

  #tick(): void {
    const { scheduler, liveness, replicas, fleet, operators, faults, log } = this.#world;
    const { elapsed } = scheduler;
    if (liveness.isAtRest && this.#workload.every(({ at }) => at < elapsed)) return this.#rest();
    if (elapsed >= this.#horizon) return this.#heal();
    replicas.tick();
    fleet.tick();
    operators.tick();
    const away = faults.strike('log-away', 'the log');
    if (away !== undefined) {
      const ms = away.spread(AWAY_MS_MIN, AWAY_MS_MAX);
      log.leave(ms);
      replicas.cutOff(ms);
    }
    scheduler.after(TICK_MS, () => this.#tick());
  }

  /** Nothing goes wrong any more. */
  #heal(): void {
    const { trace, faults, log, replicas, fleet, scheduler } = this.#world;
    trace.note('ALL', 'is well from now on');
    faults.end();
    log.comeBack();
    replicas.heal();
    fleet.heal();
    scheduler.after(HEALING_MS, () => this.#look());
  }

  #look(): void {
    const { liveness, operators, scheduler } = this.#world;
    if (liveness.isAtRest) return this.#rest();
    operators.resumeAll();
    liveness.checkOwed();
    if (scheduler.elapsed > this.#horizon + REST_MS_MAX) {
      liveness.checkEnded();
      return scheduler.stop();
    }
    scheduler.after(LOOK_MS, () => this.#look());
  }

  #rest(): void {
    const { faults, log, replicas, scheduler } = this.#world;
    faults.end();
    log.comeBack();
    replicas.heal();
    scheduler.after(HEALING_MS, () => this.#settle());
  }

  #settle(): void {
    const { timers, bus, liveness, scheduler } = this.#world;
    if (timers.pending > 0 || bus.open > 0) return scheduler.after(HEALING_MS, () => this.#settle());
    liveness.checkRest();
    scheduler.stop();
  }
}
