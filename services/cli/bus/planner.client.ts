import { query, type QueryAnswer, type QueryRequest } from '#libs/messaging';
import type { NatsConnection } from '@nats-io/transport-node';
import { failure, type CliContext } from '../terminal/index.js';

type SignedQuery = 'learn' | 'demonstrate' | 'forget' | 'evaluate';

interface PlannerOrder<N extends SignedQuery> {
  readonly name: N;
  readonly body: QueryRequest<'planner', N>;
  /** A model may have to answer first. */
  readonly timeoutMs: number;
}

/** Asks the planner for something that costs or changes something: it is told who asks. Ctrl-C ends the waiting, not the work. */
export async function orderOfPlanner<N extends SignedQuery>(
  nc: NatsConnection,
  { signal }: Pick<CliContext, 'signal'>,
  { name, body, timeoutMs }: PlannerOrder<N>,
): Promise<QueryAnswer<'planner', N>> {
  const answer = query(nc, 'planner', name, body, { timeoutMs });
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(failure('Stopped waiting; the planner goes on.'));
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([answer, stopped]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
