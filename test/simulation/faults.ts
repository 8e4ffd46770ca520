import { Dice, throwOf } from './random.js';
import type { Scheduler } from './scheduler.js';

/**
 * What can go wrong, and how often where it is chosen: the share of its opportunities that are struck, from a quiet to a bad
 * day. A `tick` is an opportunity that comes every half second of virtual time.
 */
const KINDS = {
  /** The commit is stored and nobody hears it. */
  'append-ack-lost': [0.02, 0.3],
  /** The commit never arrives. */
  'append-lost': [0.02, 0.2],
  /** The commit arrives long after its sender has given it up. */
  'append-late': [0.02, 0.15],
  /** A read of the log is not answered. */
  'read-lost': [0.02, 0.2],
  /** tick: the log answers nobody for some time. */
  'log-away': [0.003, 0.02],
  /** The wake-up is armed and nobody hears it. */
  'timer-ack-lost': [0.02, 0.2],
  'timer-late': [0.05, 0.5],
  'input-twice': [0.05, 0.5],
  /** Seconds to minutes: other streams go on. */
  'input-delayed': [0.02, 0.2],
  /** Comes before one that was sent earlier. */
  'input-overtakes': [0.05, 0.5],
  'input-ack-lost': [0.02, 0.3],
  /** Taken by a replica that has just ceased to own the run and finishes what it has taken. */
  'input-misdirected': [0.1, 0.8],
  /** tick: killed, and started again. */
  'replica-crash': [0.005, 0.04],
  /** tick: stopped, replaced by others, and woken with all its memory. */
  'replica-freeze': [0.005, 0.04],
  /** tick: one more joins, or one leaves in good order. */
  'replica-scaled': [0.005, 0.03],
  /** The clock of a replica that starts is wrong. */
  'clock-skewed': [0.2, 0.9],
  'profile-delayed': [0.1, 0.8],
  'device-slow': [0.02, 0.3],
  /** Never says what became of the command. */
  'device-mute': [0.01, 0.1],
  /** tick: forgets what it was doing, its journal does not. */
  'device-crash': [0.003, 0.03],
  /** tick: away for moments, again and again. */
  'device-flapping': [0.003, 0.03],
  /** tick: away for longer than the grace. */
  'device-lost': [0.002, 0.015],
  /** tick: nothing new may start on it for some time. */
  'device-held': [0.003, 0.02],
  'stop-ignored': [0.2, 0.9],
  /** The device agent reads what was started later, or twice. */
  'order-delayed': [0.02, 0.3],
  'order-twice': [0.05, 0.4],
  'planner-late': [0.1, 0.5],
  'planner-silent': [0.1, 0.5],
  'planner-garbage': [0.1, 0.6],
  'planner-touches-running': [0.1, 0.6],
  'planner-cycle': [0.1, 0.6],
  'planner-removes-running': [0.1, 0.6],
  'planner-floods': [0.02, 0.1],
  'planner-repeats': [0.1, 0.6],
  'planner-finishes-early': [0.02, 0.15],
  'planner-fails': [0.02, 0.15],
  /** tick: people. */
  'operator-cancel': [0.001, 0.006],
  'operator-pause': [0.002, 0.02],
  'operator-retry': [0.005, 0.05],
  'operator-edit': [0.005, 0.05],
  'operator-fork': [0.001, 0.01],
  /** It comes to no plan, and says so. */
  'planner-gives-up': [0.05, 0.3],
  /** tick: a plan that waits is accepted a moment later, or not at all for a while. */
  'operator-hesitates': [0.2, 0.9],
} as const satisfies Record<string, readonly [number, number]>;

export type FaultKind = keyof typeof KINDS;
export const FAULT_KINDS = Object.keys(KINDS) as FaultKind[];

/** Kinds with an opportunity in every simulation, soon after its start. */
const SURE = [
  'append-ack-lost',
  'append-lost',
  'append-late',
  'timer-ack-lost',
  'input-twice',
  'input-delayed',
  'input-overtakes',
  'input-ack-lost',
  'device-slow',
  'order-delayed',
  'order-twice',
  'replica-crash',
  'replica-freeze',
  'device-flapping',
] as const satisfies readonly FaultKind[];
const SURE_MIN = 4;
/** A sure kind is struck at one of its first opportunities. */
const FIRST_MAX = 4;
const CHOSEN_SHARE = 0.3;

/** One decision that something goes wrong; its id names it in the schedule of its seed. */
export interface Strike {
  readonly id: string;
  readonly kind: FaultKind;
  /** Milliseconds since the start. */
  readonly at: number;
  readonly about: string;
}

/**
 * Decides what goes wrong. Each decision depends on the seed, its kind and how many opportunities of the kind there were
 * before, so one that is taken out of the schedule leaves those of the other kinds where they were.
 */
export class Faults {
  readonly struck: Strike[] = [];
  readonly #seed: number;
  readonly #scheduler: Scheduler;
  readonly #only: ReadonlySet<string> | undefined;
  readonly #rates: ReadonlyMap<FaultKind, number>;
  readonly #first: ReadonlyMap<FaultKind, number>;
  readonly #opportunities = new Map<FaultKind, number>();
  #over = false;

  /** `only`: the ids of the decisions that may be taken; any when absent. */
  constructor(seed: number, scheduler: Scheduler, only?: ReadonlySet<string>) {
    this.#seed = seed;
    this.#scheduler = scheduler;
    this.#only = only;
    const dice = new Dice(seed, 'faults');
    const sure = sureOf(dice);
    const chosen = FAULT_KINDS.filter((kind) => dice.chance(CHOSEN_SHARE) || sure.has(kind));
    this.#rates = new Map(chosen.map((kind) => [kind, dice.spread(KINDS[kind][0], KINDS[kind][1])]));
    this.#first = new Map([...sure].map((kind) => [kind, dice.int(0, FIRST_MAX)]));
  }

  get chosen(): FaultKind[] {
    return [...this.#rates.keys()];
  }

  get over(): boolean {
    return this.#over;
  }

  /** Nothing goes wrong from now on. */
  end(): void {
    this.#over = true;
  }

  /** The dice of the fault that strikes at this opportunity; undefined when all goes well. */
  strike(kind: FaultKind, about: string): Dice | undefined {
    const rate = this.#rates.get(kind);
    if (rate === undefined || this.#over) return undefined;
    const opportunity = this.#opportunities.get(kind) ?? 0;
    this.#opportunities.set(kind, opportunity + 1);
    if (throwOf(this.#seed, kind, opportunity) >= rate && this.#first.get(kind) !== opportunity) return undefined;
    const id = `${kind}#${opportunity}`;
    if (this.#only?.has(id) === false) return undefined;
    this.struck.push({ id, kind, at: this.#scheduler.elapsed, about });
    return new Dice(this.#seed, kind, opportunity, 'how');
  }
}

function sureOf(dice: Dice): Set<FaultKind> {
  const sure = new Set<FaultKind>();
  while (sure.size < SURE_MIN) sure.add(dice.pick(SURE));
  return sure;
}
