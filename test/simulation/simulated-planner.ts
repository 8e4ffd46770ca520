import type { Actor, RunCommit, RunId } from '#proto';
import type { Run } from '#libs/constellation';
import type { FaultKind, Faults } from './faults.js';
import { type Manner, proposalOf, roundMsOf, TRIES_MAX } from './proposals.js';
import type { Dice } from './random.js';
import type { Scheduler } from './scheduler.js';
import type { Bus } from './simulated-bus.js';
import type { Trace } from './trace.js';

const PLANNER: Actor = { kind: 'system', id: 'planner' };
const THINKS_MS_MIN = 100;
const THINKS_MS_MAX = 8_000;
const REPEATS_MS_MAX = 10_000;
/** How it errs, unless it is silent. */
const ERRORS: readonly (readonly [FaultKind, Manner])[] = [
  ['planner-garbage', 'garbage'],
  ['planner-touches-running', 'touches-running'],
  ['planner-removes-running', 'removes-running'],
  ['planner-cycle', 'cycle'],
  ['planner-floods', 'floods'],
  ['planner-finishes-early', 'finishes'],
  ['planner-fails', 'fails'],
];

export interface PlannerParts {
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly dice: Dice;
  readonly trace: Trace;
  readonly bus: Bus;
  readonly devices: readonly string[];
  readonly runOf: (runId: RunId) => Run | undefined;
}

/** Follows RUNS and answers every edit round, well or badly. What it knows of a run is as old as its thinking. */
export class Planner {
  readonly #parts: PlannerParts;

  constructor(parts: PlannerParts) {
    this.#parts = parts;
  }

  follow({ runId, events }: RunCommit): void {
    for (const { type, data } of events) {
      if (type === 'EDIT_OPENED') this.#think(runId, data.editId, 1);
      else if (type === 'EDIT_REJECTED' && data.try < TRIES_MAX) this.#think(runId, data.editId, data.try + 1);
    }
  }

  #think(runId: RunId, editId: string, number: number): void {
    const { faults, dice, scheduler, runOf } = this.#parts;
    const run = runOf(runId);
    const about = `${editId} of ${runId.slice(0, 6)}`;
    if (run === undefined || faults.strike('planner-silent', about) !== undefined) return;
    const late = faults.strike('planner-late', about);
    const ms =
      late === undefined ? dice.spread(THINKS_MS_MIN, THINKS_MS_MAX) : roundMsOf(run) + late.between(-50, 5_000);
    scheduler.after(ms, () => this.#propose(run, { editId, try: number, about }));
  }

  #propose(run: Run, round: { readonly editId: string; readonly try: number; readonly about: string }): void {
    const { faults, dice, bus, trace, devices, scheduler } = this.#parts;
    const { about, ...asked } = round;
    const error = ERRORS.find(([kind]) => faults.strike(kind, about) !== undefined);
    const manner = error?.[1] ?? 'good';
    const proposal = proposalOf(manner, { run, ...asked, devices }, dice);
    const input = { kind: 'proposal', proposal, by: PLANNER, planHash: null } as const;
    const cause = { kind: 'run', id: `${round.editId}.${round.try}` } as const;
    const text = `proposal ${round.try} for ${about}, ${manner}`;
    trace.note('planner', text);
    const bytes = manner === 'floods' ? 1_000_000 : JSON.stringify(proposal).length;
    const send = () =>
      void bus.publish({ stream: 'PLANS', runId: run.runId, about: text, read: () => ({ input, cause, bytes }) });
    send();
    const again = faults.strike('planner-repeats', about);
    if (again !== undefined) scheduler.after(again.spread(1, REPEATS_MS_MAX), send);
  }
}
