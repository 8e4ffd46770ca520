import { Inject } from '@nestjs/common';
import type { Logger } from 'pino';
import { DURABLES, runIdOfSubject, type RunId } from '#proto';
import { foldRun } from '#libs/constellation';
import { CorruptLogError, type RunLog } from '#libs/event-log';
import { DONE, mayHold, parseCommit, QueryRefusedError, type BusMessage, type Outcome } from '#libs/messaging';
import { Takes, TakesMessages, token } from '#libs/platform';
import type { LiveRounds } from './live-rounds.runner.js';
import { END_TYPES, endsRun, orderOf, ROUND_TYPES } from './order.js';
import type { RoundHandler } from './round.handler.js';

/** Judges a run that has ended. */
export interface Evaluations {
  evaluate(runId: RunId): Promise<'stored' | 'exists' | 'failed'>;
}

export interface RoundsConsumerParts {
  readonly rounds: Pick<RoundHandler, 'carryOut' | 'letGo'>;
  readonly live: LiveRounds;
  readonly runs: RunLog;
  /** Null: nobody can judge a run, there is no model. */
  readonly evaluations: Evaluations | null;
  /** Every run of a goal is judged, not only those that ask for it. */
  readonly evaluateAll: boolean;
  readonly logger: Logger;
}

export const ROUNDS = token<RoundsConsumerParts>('ROUNDS');

/** Most commits of runs only pass by; their acks go together. */
const ACK_INTERVAL_MS = 100;
const LEFT: Outcome = { kind: 'retry', delayMs: 0, reason: 'this replica stops' };

/**
 * `planner-rounds`: a commit is done when what it asks for is stored, or nobody wants it any more. How many are worked on at
 * once is a setting of the service.
 */
@TakesMessages()
export class RoundsConsumer {
  readonly #parts: RoundsConsumerParts;

  constructor(@Inject(ROUNDS) parts: RoundsConsumerParts) {
    this.#parts = parts;
  }

  @Takes(DURABLES.plannerRounds, { ackIntervalMs: ACK_INTERVAL_MS })
  async handle(message: BusMessage): Promise<Outcome> {
    this.#pass(message);
    if (!mayHold(message, [...ROUND_TYPES, ...END_TYPES])) return DONE;
    const parsed = parseCommit(message);
    if (!parsed.ok) return { kind: 'poison', reason: parsed.reason };
    const { rounds } = this.#parts;
    const order = orderOf(parsed.commit);
    try {
      if (order !== undefined) return (await rounds.carryOut(order)) === 'left' ? LEFT : DONE;
      const { runId } = parsed.commit;
      // Not in turn: a run that is opened again meanwhile does not wait for what it was worth before.
      return endsRun(parsed.commit) ? await this.#evaluate(runId) : DONE;
    } catch (error) {
      if (error instanceof CorruptLogError) return { kind: 'poison', reason: error.message };
      throw error;
    }
  }

  /** A round that waits for a model looks whether it still has to; of a run that ends nothing is kept. */
  #pass(message: BusMessage): void {
    const { live, rounds } = this.#parts;
    const runId = runIdOfSubject(message.subject);
    if (runId === undefined) return;
    live.moved(runId);
    if (mayHold(message, [...END_TYPES, 'RUN_CANCELLED'])) rounds.letGo(runId);
  }

  async #evaluate(runId: RunId): Promise<Outcome> {
    const { evaluations, evaluateAll, runs, live, logger } = this.#parts;
    if (evaluations === null) return DONE;
    if (live.signal.aborted) return LEFT;
    const run = foldRun((await runs.load(runId)).map(({ commit }) => commit));
    const { goal = null, options } = run?.request ?? {};
    if (options?.evaluate !== true && !(evaluateAll && goal !== null)) return DONE;
    try {
      const evaluated = await evaluations.evaluate(runId);
      logger.info({ runId, evaluated }, 'evaluation');
      if (evaluated === 'failed' && live.signal.aborted) return LEFT;
    } catch (error) {
      // It was opened again meanwhile: its next end is another commit.
      if (!(error instanceof QueryRefusedError)) throw error;
      logger.info({ runId, reason: error.message }, 'evaluation: refused');
    }
    return DONE;
  }
}
