import { Inject } from '@nestjs/common';
import type { Evaluation, RunId } from '#proto';
import { refused, type Asker, type QueryAnswer, type QueryName, type QueryRequest } from '#libs/messaging';
import { Answers, By, TakesMessages, TheQuery, token } from '#libs/platform';
import { EvaluationHandler } from './evaluation.handler.js';
import type { Learner } from './once-per-run.handler.js';
import type { LearningHandler } from './learning.handler.js';

type Learning = Pick<LearningHandler, 'learn' | 'demonstrate' | 'forget' | 'experiences'>;
type Question<N extends QueryName<'planner'>> = QueryRequest<'planner', N>;
type Answer<N extends QueryName<'planner'>> = Promise<QueryAnswer<'planner', N>>;

/** Null: examples are not kept. */
export const LEARNING = token<LearningHandler | null>('LEARNING');

/** What people let the planner learn and judge. The proof of who asks is kept with the facts. */
@TakesMessages()
export class LearningQueries {
  readonly #learning: Learning | null;
  readonly #evaluations: { ordered(runId: RunId, asker: Learner): Promise<Evaluation> };

  constructor(
    @Inject(LEARNING) learning: Learning | null,
    @Inject(EvaluationHandler) evaluations: { ordered(runId: RunId, asker: Learner): Promise<Evaluation> },
  ) {
    this.#learning = learning;
    this.#evaluations = evaluations;
  }

  @Answers('planner', 'experiences')
  async experiences({ text, limit }: Question<'experiences'>): Answer<'experiences'> {
    const experiences = (await this.#learning?.experiences({ text, limit })) ?? [];
    return { enabled: this.#learning !== null, experiences };
  }

  @Answers('planner', 'learn')
  async learn(@TheQuery() { runId }: Question<'learn'>, @By() asker: Asker): Answer<'learn'> {
    return { experience: await this.#kept().learn(runId, asker) };
  }

  @Answers('planner', 'demonstrate')
  async demonstrate(@TheQuery() { demonstration }: Question<'demonstrate'>, @By() asker: Asker): Answer<'demonstrate'> {
    return { experience: await this.#kept().demonstrate(demonstration, asker.actor) };
  }

  @Answers('planner', 'forget')
  async forget({ id }: Question<'forget'>): Answer<'forget'> {
    return { changed: await this.#kept().forget(id) };
  }

  @Answers('planner', 'evaluate')
  async evaluate(@TheQuery() { runId }: Question<'evaluate'>, @By() asker: Asker): Answer<'evaluate'> {
    await this.#evaluations.ordered(runId, asker);
    return { accepted: true };
  }

  #kept(): Learning {
    if (this.#learning !== null) return this.#learning;
    throw refused('INVALID_STATE', 'The planner keeps no examples; start it with ORRERY_EXPERIENCE=on and a database.');
  }
}
