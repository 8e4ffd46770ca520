import { NO_USAGE, type Actor, type RunCommit, type RunId } from '#proto';
import type { Input, Run } from '#libs/constellation';
import { IMAGINED } from '../../libs/constellation/testing/trust.js';
import type { FaultKind, Faults } from './faults.js';
import { type Manner, proposalOf, roundMsOf, TRIES_MAX } from './proposals.js';
import type { Dice } from './random.js';
import type { Scheduler } from './scheduler.js';
import type { Bus } from './simulated-bus.js';
import type { Trace } from './trace.js';

const PLANNER: Actor = { kind: 'system', id: 'planner' };
const HASH = 'e'.repeat(64);
const ONE_CALL = { llmCalls: 1, tokens: 500, commands: 0, costUsd: 0 };
/** The rest comes from runbooks and rules. */
const MODEL_SHARE = 0.6;
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

  /** What a model says costs a call, and is not asked for when none is left. */
  #propose(run: Run, round: { readonly editId: string; readonly try: number; readonly about: string }): void {
    const { faults, dice, devices } = this.#parts;
    const { about, ...asked } = round;
    const isModel = dice.chance(MODEL_SHARE) && (run.editing?.budget?.llmCalls ?? 1) > 0;
    const used = isModel ? ONE_CALL : NO_USAGE;
    if (faults.strike('planner-gives-up', about) !== undefined) {
      const code = dice.pick(['MODEL_AWAY', 'MODEL_AWAY', 'TOO_MANY_ROUNDS'] as const);
      const error = { code, message: 'the model does not answer' };
      const spent = code === 'MODEL_AWAY' ? used : NO_USAGE;
      const input = { kind: 'round-failed', ...asked, error, used: spent, planHash: HASH } as const;
      return this.#send(run, round, { input, said: 'nothing', bytes: 100 });
    }
    const error = ERRORS.find(([kind]) => faults.strike(kind, about) !== undefined);
    const manner = error?.[1] ?? 'good';
    const plain = proposalOf(manner, { run, ...asked, devices }, dice);
    const proposal = isModel ? { ...plain, trace: IMAGINED } : plain;
    const source = isModel ? 'model' : dice.pick(['runbook', 'rule'] as const);
    const input = { kind: 'proposal', proposal, by: PLANNER, planHash: HASH, source, used } as const;
    const bytes = manner === 'floods' ? 1_000_000 : JSON.stringify(proposal).length;
    this.#send(run, round, { input, said: `${manner} of a ${source}`, bytes });
  }

  #send(
    run: Run,
    { editId, try: number, about }: { readonly editId: string; readonly try: number; readonly about: string },
    { input, said, bytes }: { readonly input: Input; readonly said: string; readonly bytes: number },
  ): void {
    const { faults, bus, trace, scheduler } = this.#parts;
    const cause = { kind: 'plan', id: `${editId}.${number}` } as const;
    const text = `try ${number} for ${about}, ${said}`;
    trace.note('planner', text);
    const send = () =>
      void bus.publish({ stream: 'PLANS', runId: run.runId, about: text, read: () => ({ input, cause, bytes }) });
    send();
    const again = faults.strike('planner-repeats', about);
    if (again !== undefined) scheduler.after(again.spread(1, REPEATS_MS_MAX), send);
  }
}
