import type { Logger } from 'pino';
import type { DeviceId, Sha256 } from '#proto';
import {
  type Circumstances,
  decide,
  type KnownTruths,
  type Question,
  type Run,
  type RunDecision,
  type StandingApproval,
  type Truth,
  undecided,
} from '#libs/constellation';
import { hashCommit } from '#libs/event-log';
import type { Fleet } from '../fleet/index.js';
import { inputsOf, priorityOf } from './batch.js';
import type { Settled, Waiting } from './served-run.js';
import type { Starved } from './starved.js';

export interface DeciderParts {
  readonly fleet: Fleet;
  readonly logger: Logger;
  /** Somebody is there who makes plans. */
  readonly planner: () => boolean;
  /** And has a model to ask; without it nobody knows. */
  readonly model?: () => boolean | undefined;
  /** Ids of the persons who may approve; without it nobody knows. */
  readonly approvers?: () => readonly string[] | undefined;
  /** Words for the content of plans with this hash that count now. */
  readonly standing?: (contentHash: Sha256, now: number) => readonly StandingApproval[];
  /** What conditions come to that take time, or need more than an event holds; throws when the infrastructure is away. */
  readonly judge: (questions: readonly Question[]) => Promise<readonly Truth[]>;
  readonly decide?: typeof decide;
}

/** `decide` threw on a batch: one of its inputs is poison. */
export class UndecidableError extends Error {}

/** Decides about runs, each in the circumstances of this replica. */
export class RunDecider {
  readonly #parts: DeciderParts;
  /** Who waits for which device. */
  readonly #starved: Pick<Starved, 'reserved'>;

  constructor(parts: DeciderParts, starved: Pick<Starved, 'reserved'>) {
    this.#parts = parts;
    this.#starved = starved;
  }

  /** Throws UndecidableError; `truths`: what was found out so far. */
  decide(
    run: Run,
    batch: readonly Waiting[],
    { now, truths }: { readonly now: number; readonly truths: KnownTruths },
  ): RunDecision {
    try {
      return this.#decide(run, inputsOf(batch), { ...this.#circumstances(run, now), truths });
    } catch (error) {
      throw new UndecidableError(`run ${run.runId} cannot be decided: ${String(error)}`, { cause: error });
    }
  }

  /** What a decision asks for; throws when the infrastructure is away. */
  async findOut(wanted: readonly Question[], truths: KnownTruths): Promise<void> {
    const found = await this.#parts.judge(wanted);
    wanted.forEach((question, index) => truths.add(question, found[index] ?? undecided('nobody has judged it')));
  }

  /** Inputs on which `decide` throws are poison: each becomes a pause of the run, for a person to look, and a dead letter. */
  isolate(run: Run, batch: readonly Waiting[], now: number): readonly Waiting[] {
    const circumstances = this.#circumstances(run, now);
    return batch.map((waiting): Waiting => {
      try {
        this.#decide(run, [waiting.input], circumstances);
        return waiting;
      } catch (error) {
        const reason = `decide threw on ${waiting.cause.kind} ${waiting.cause.id}: ${String(error)}`;
        this.#parts.logger.error({ runId: run.runId, reason }, 'poison input');
        const settle = (settled: Settled) =>
          waiting.settle(settled.kind === 'answered' ? { kind: 'poison', reason } : settled);
        return { input: { kind: 'pause', reason }, cause: waiting.cause, bytes: reason.length, settle };
      }
    });
  }

  get #decide(): typeof decide {
    return this.#parts.decide ?? decide;
  }

  #circumstances(run: Run, now: number): Circumstances {
    const { runId } = run;
    const reserved = (deviceId: DeviceId) => this.#starved.reserved(runId, deviceId, priorityOf(run));
    const { fleet, planner, model, approvers, standing } = this.#parts;
    return {
      fleet: fleet.viewOf(runId, { now, reserved }),
      now,
      planner: planner(),
      model: model?.(),
      approvers: approvers?.(),
      standing: standing && ((content) => standing(hashCommit(content), now)),
    };
  }
}
