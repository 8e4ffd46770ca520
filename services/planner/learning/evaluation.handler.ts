import type { Logger } from 'pino';
import { Evaluation, type RunId, usageOfCalls } from '#proto';
import type { RunLog } from '#libs/event-log';
import { refused } from '#libs/messaging';
import { problemsOfVerdicts, withAllSubtasks } from '#libs/planner';
import { loadEndedRun, NO_MODEL, type EndedRun } from './ended-run.adapter.js';
import type { PlanningFleet } from '../fleet/index.js';
import { OncePerRun, orderedBy, type MadeFact, type Learner } from './once-per-run.handler.js';
import { type PlanCommits, recorded, PlannerFault, wellFormed } from '../rounds/index.js';
import { EVALUATION_AGENT, ReflectionError, type Reflection } from './reflection.runner.js';

export interface EvaluationParts {
  readonly runs: RunLog;
  readonly commits: PlanCommits;
  /** Null: no model is configured. */
  readonly reflection: Reflection | null;
  /** Whether something could have been done depends on what there is to do it with. */
  readonly fleet: Pick<PlanningFleet, 'profiles'>;
  readonly logger: Logger;
}

/** What a run was judged as; `failed`: no model could say. */
export type RunJudgement =
  | { readonly kind: 'stored' | 'exists'; readonly evaluation: Evaluation }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

/** Lets a model judge runs that have ended, each end once: the judgement is a fact of its plan chain, and stays as it is. */
export class EvaluationHandler {
  readonly #parts: EvaluationParts;
  readonly #evaluations: OncePerRun<Evaluation>;

  constructor(parts: EvaluationParts) {
    this.#parts = parts;
    this.#evaluations = new OncePerRun(parts.commits, ({ evaluation }, end) =>
      evaluation?.of === end ? evaluation.evaluation : null,
    );
  }

  /** As `judge`, for who only wants to know whether it is done. */
  async evaluate(runId: RunId): Promise<'stored' | 'exists' | 'failed'> {
    return (await this.judge(runId)).kind;
  }

  /** `asker`: who orders it. Throws QueryRefusedError for a run that is not known or has not ended, and when the logs cannot be read or written. */
  async judge(runId: RunId, asker?: Learner): Promise<RunJudgement> {
    try {
      const ended = await loadEndedRun(this.#parts.runs, runId, 'judged');
      const { value, isNew } = await this.#evaluations.of(runId, () => this.#make(ended, asker), ended.commit);
      return { kind: isNew ? 'stored' : 'exists', evaluation: value };
    } catch (error) {
      if (!(error instanceof ReflectionError) && !(error instanceof PlannerFault)) throw error;
      const { message } = error;
      const code = error instanceof ReflectionError ? error.code : 'PLANNER_FAULT';
      this.#parts.logger.warn({ runId, code, reason: message }, 'a run could not be judged');
      return { kind: 'failed', code, message };
    }
  }

  /** For a query, proven: a judgement, or a refusal that says why there is none. */
  async ordered(runId: RunId, asker: Learner): Promise<Evaluation> {
    const judged = await this.judge(runId, asker);
    if (judged.kind !== 'failed') return judged.evaluation;
    throw refused('TRY_AGAIN', `The run could not be judged: ${judged.message}`);
  }

  async #make({ run, commit }: EndedRun, asker: Learner | undefined): Promise<MadeFact<Evaluation>> {
    const { reflection } = this.#parts;
    if (reflection === null) throw refused('INVALID_STATE', NO_MODEL);
    const goal = run.request?.goal ?? null;
    const { value, calls, templates } = await reflection.ask({
      agent: EVALUATION_AGENT,
      schema: Evaluation,
      turn: `${run.runId}.evaluation`,
      prompt: (prompter, fenceBoundary) =>
        prompter.evaluation({ fenceBoundary, goal, run, profiles: this.#parts.fleet.profiles }),
      check: (said) => problemsOfVerdicts(said, run),
    });
    const evaluation = withAllSubtasks(Evaluation.parse(wellFormed(value)), run);
    return {
      value: evaluation,
      event: {
        type: 'RUN_EVALUATED',
        data: { ...recorded({ calls, templates }), evaluation, used: usageOfCalls(calls) },
      },
      causes: [{ kind: 'run', id: commit }, ...(asker === undefined ? [] : [orderedBy('evaluate', asker)])],
    };
  }
}
