import { subjects, type Actor, type ActorProof, type Evaluation, type RunId } from '#proto';
import {
  QueryRefusedError,
  refused,
  type Actors,
  type QueryAnswer,
  type QueryHandlers,
  type QueryName,
  type QueryRequest,
} from '#libs/messaging';
import type { Clock } from '#libs/platform';
import type { LearningHandler } from './learning.handler.js';

export interface ActorQueryParts {
  /** Null: examples are not kept. */
  readonly learning: Pick<LearningHandler, 'learn' | 'demonstrate' | 'forget' | 'experiences'> | null;
  readonly evaluations: { ordered(runId: RunId): Promise<Evaluation> };
  readonly actors: Pick<Actors, 'actorOf'>;
  readonly clock: Clock;
}

type Answers = Pick<QueryHandlers<'planner'>, 'experiences' | 'learn' | 'demonstrate' | 'forget' | 'evaluate'>;

/** What people let the planner learn and judge. What changes something, or costs something, is signed like a verb. */
export function actorQueries(parts: ActorQueryParts): Answers {
  const { learning, evaluations } = parts;
  return {
    experiences: async ({ text, limit }) => ({
      enabled: learning !== null,
      experiences: (await learning?.experiences({ text, limit })) ?? [],
    }),
    learn: async (request) => {
      const by = senderOf('learn', request, parts);
      return { experience: await kept(learning).learn(request.runId, by) };
    },
    demonstrate: async (request) => {
      const by = senderOf('demonstrate', request, parts);
      return { experience: await kept(learning).demonstrate(request.demonstration, by) };
    },
    forget: async (request) => {
      senderOf('forget', request, parts);
      return { changed: await kept(learning).forget(request.id) };
    },
    evaluate: async (request): Promise<QueryAnswer<'planner', 'evaluate'>> => {
      senderOf('evaluate', request, parts);
      await evaluations.ordered(request.runId);
      return { accepted: true };
    },
  };
}

type SignedQuery = Extract<QueryName<'planner'>, 'learn' | 'demonstrate' | 'forget' | 'evaluate'>;

/** These requests have no defaults, so that what was parsed is what was signed. */
function senderOf(
  name: SignedQuery,
  request: QueryRequest<'planner', SignedQuery> & { readonly actor: ActorProof },
  { actors, clock }: ActorQueryParts,
): Actor {
  const subject = subjects.query('planner', name);
  const answer = actors.actorOf(request.actor, { subject, body: request, now: clock.now() });
  if (answer.ok) return answer.actor;
  throw new QueryRefusedError(answer.refusal);
}

function kept(learning: ActorQueryParts['learning']): NonNullable<ActorQueryParts['learning']> {
  if (learning !== null) return learning;
  const message = 'The planner keeps no examples; start it with ORRERY_EXPERIENCE=on and a database.';
  throw refused('INVALID_STATE', message);
}
