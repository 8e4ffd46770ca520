import type { RunId } from '#proto';
import { TimerConflictError } from '#libs/messaging';
import type { WakeUps } from '../../services/orchestrator/runs/wake-ups.handler.js';
import type { Fail } from './failure.js';
import type { Faults } from './faults.js';
import type { Mishap, Process } from './process.js';
import type { Dice } from './random.js';
import { type Scheduler, START_MS } from './scheduler.js';
import type { Trace } from './trace.js';

const ARM_TIMEOUT_MS = 4_000;
const LATE_MS_MAX = 8_000;

interface Armed {
  readonly sequence: number;
  /** Milliseconds since the epoch; not a number when none is armed. */
  readonly at: number;
}

export interface TimerServerParts {
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly fail: Fail;
  readonly trace: Trace;
  /** The wake-up for `at` is stored as due. */
  readonly due: (runId: RunId, at: number) => void;
}

const NOT_ARMED: Armed = { sequence: 0, at: Number.NaN };

/** Wake-ups of a run that fired at once, one after the other: more of them is a run that keeps everybody busy. */
const SPINS_MAX = 40;

/** The server's side of TIMERS: one pending message per run, replaced under its expected sequence, gone when it is due. */
export class TimerServer {
  readonly #pending = new Map<RunId, Armed>();
  readonly #scheduler: Scheduler;
  readonly #faults: Faults;
  readonly #due: (runId: RunId, at: number) => void;
  readonly #fail: Fail;
  readonly #trace: Trace;
  readonly #spins = new Map<RunId, number>();
  #sequence = 0;

  constructor(parts: TimerServerParts) {
    this.#scheduler = parts.scheduler;
    this.#fail = parts.fail;
    this.#trace = parts.trace;
    this.#faults = parts.faults;
    this.#due = parts.due;
  }

  /** Wake-ups that have not fired. */
  get pending(): number {
    return this.#pending.size;
  }

  read(runId: RunId): Armed {
    return this.#pending.get(runId) ?? NOT_ARMED;
  }

  publish(runId: RunId, at: number, expected: number): number | 'conflict' {
    if (this.read(runId).sequence !== expected) {
      this.#trace.note('TIMERS', `${runId.slice(0, 6)} was armed by somebody else`);
      return 'conflict';
    }
    this.#trace.note('TIMERS', `${runId.slice(0, 6)} is armed for +${at - START_MS}`);
    const armed = { sequence: ++this.#sequence, at };
    this.#pending.set(runId, armed);
    this.#spins.set(runId, at > this.#scheduler.now() ? 0 : (this.#spins.get(runId) ?? 0) + 1);
    if ((this.#spins.get(runId) ?? 0) > SPINS_MAX)
      this.#fail('SPINS', `run ${runId} is woken for ${at} again and again`);
    const late = this.#faults.strike('timer-late', runId)?.between(0, LATE_MS_MAX) ?? 0;
    this.#scheduler.at(at + late, () => {
      if (this.#pending.get(runId) !== armed) return;
      this.#pending.delete(runId);
      this.#due(runId, at);
    });
    return armed.sequence;
  }
}

export interface TimerClientParts {
  readonly server: TimerServer;
  readonly process: Process;
  readonly faults: Faults;
  readonly dice: Dice;
  /** The server answers nobody. */
  readonly isAway: () => boolean;
}

/** One replica's way to the timers, with what it saw of them last. */
export class TimerClient implements WakeUps {
  readonly #parts: TimerClientParts;
  readonly #known = new Map<RunId, Armed>();

  constructor(parts: TimerClientParts) {
    this.#parts = parts;
  }

  async armed(runId: RunId): Promise<number | undefined> {
    const found = await this.#read(runId);
    this.#known.set(runId, found);
    return Number.isNaN(found.at) ? undefined : found.at;
  }

  expectNone(runId: RunId): void {
    this.#known.set(runId, NOT_ARMED);
  }

  async arm(runId: RunId, at: number): Promise<void> {
    const before = this.#known.get(runId) ?? (await this.#read(runId));
    this.#known.delete(runId);
    const sequence = await this.#publish(runId, at, before);
    this.#known.set(runId, { sequence, at });
  }

  forget(runId: RunId): void {
    this.#known.delete(runId);
  }

  async #publish(runId: RunId, at: number, before: Armed): Promise<number> {
    const first = await this.#publishOnce(runId, at, before.sequence);
    if (first !== 'conflict') return first;
    const now = await this.#read(runId);
    // It fired meanwhile: nobody else was here.
    const second = now.sequence === 0 && before.sequence > 0 ? await this.#publishOnce(runId, at, 0) : 'conflict';
    if (second === 'conflict') throw new TimerConflictError(runId);
    return second;
  }

  #publishOnce(runId: RunId, at: number, expected: number): Promise<number | 'conflict'> {
    return this.#call('timer-ack-lost', runId, () => this.#parts.server.publish(runId, at, expected));
  }

  #read(runId: RunId): Promise<Armed> {
    return this.#call('read-lost', runId, () => this.#parts.server.read(runId));
  }

  #call<T>(kind: 'timer-ack-lost' | 'read-lost', about: string, work: () => T): Promise<T> {
    const { process, faults, dice, isAway } = this.#parts;
    let mishap: Mishap | undefined;
    if (isAway()) mishap = { kind: 'request-lost' };
    else if (faults.strike(kind, about)) mishap = { kind: 'answer-lost' };
    return process.call({
      there: dice.spread(0.2, 3),
      back: dice.spread(0.2, 3),
      timeoutMs: ARM_TIMEOUT_MS,
      mishap,
      work,
    });
  }
}
