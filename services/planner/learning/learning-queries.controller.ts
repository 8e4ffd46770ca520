import { Inject } from '@nestjs/common';
import { subjects, type Actor, type ActorProof, type Evaluation, type RunId } from '#proto';
import {
  Actors,
  QueryRefusedError,
  refused,
  type QueryAnswer,
  type QueryName,
  type QueryRequest,
} from '#libs/messaging';
import { Answers, CLOCK, TakesMessages, token, type Clock } from '#libs/platform';
import { EvaluationHandler } from './evaluation.handler.js';
import type { LearningHandler } from './learning.handler.js';

type Learning = Pick<LearningHandler, 'learn' | 'demonstrate' | 'forget' | 'experiences'>;
type Request<N extends QueryName<'planner'>> = QueryRequest<'planner', N>;
type Answer<N extends QueryName<'planner'>> = Promise<QueryAnswer<'planner', N>>;
type SignedQuery = Extract<QueryName<'planner'>, 'learn' | 'demonstrate' | 'forget' | 'evaluate'>;

/** Null: examples are not kept. */
export const LEARNING = token<LearningHandler | null>('LEARNING');

/** What people let the planner learn and judge. What changes something, or costs something, is signed like a verb. */
@TakesMessages()
export class LearningQueries {
  readonly #learning: Learning | null;
  readonly #evaluations: { ordered(runId: RunId): Promise<Evaluation> };
  readonly #actors: Pick<Actors, 'actorOf'>;
  readonly #clock: Clock;

  constructor(
    @Inject(LEARNING) learning: Learning | null,
    @Inject(EvaluationHandler) evaluations: { ordered(runId: RunId): Promise<Evaluation> },
    @Inject(Actors) actors: Pick<Actors, 'actorOf'>,
    @Inject(CLOCK) clock: Clock,
  ) {
    this.#learning = learning;
    this.#evaluations = evaluations;
    this.#actors = actors;
    this.#clock = clock;
  }

  @Answers('planner', 'experiences')
  async experiences({ text, limit }: Request<'experiences'>): Answer<'experiences'> {
    const experiences = (await this.#learning?.experiences({ text, limit })) ?? [];
    return { enabled: this.#learning !== null, experiences };
  }

  @Answers('planner', 'learn')
  async learn(request: Request<'learn'>): Answer<'learn'> {
    const by = this.#senderOf('learn', request);
    return { experience: await this.#kept().learn(request.runId, by) };
  }

  @Answers('planner', 'demonstrate')
  async demonstrate(request: Request<'demonstrate'>): Answer<'demonstrate'> {
    const by = this.#senderOf('demonstrate', request);
    return { experience: await this.#kept().demonstrate(request.demonstration, by) };
  }

  @Answers('planner', 'forget')
  async forget(request: Request<'forget'>): Answer<'forget'> {
    this.#senderOf('forget', request);
    return { changed: await this.#kept().forget(request.id) };
  }

  @Answers('planner', 'evaluate')
  async evaluate(request: Request<'evaluate'>): Answer<'evaluate'> {
    this.#senderOf('evaluate', request);
    await this.#evaluations.ordered(request.runId);
    return { accepted: true };
  }

  /** These requests have no defaults, so that what was parsed is what was signed. */
  #senderOf(name: SignedQuery, request: Request<SignedQuery> & { readonly actor: ActorProof }): Actor {
    const signed = { subject: subjects.query('planner', name), body: request, now: this.#clock.now() };
    const answer = this.#actors.actorOf(request.actor, signed);
    if (answer.ok) return answer.actor;
    throw new QueryRefusedError(answer.refusal);
  }

  #kept(): Learning {
    if (this.#learning !== null) return this.#learning;
    throw refused('INVALID_STATE', 'The planner keeps no examples; start it with ORRERY_EXPERIENCE=on and a database.');
  }
}
