import { proveActor } from '#libs/keys';
import { query, type QueryAnswer, type QueryRequest } from '#libs/messaging';
import { subjects } from '#proto';
import type { NatsConnection } from '@nats-io/transport-node';
import { failure, type CliContext } from '../terminal/index.js';

type SignedQuery = 'learn' | 'demonstrate' | 'forget' | 'evaluate';

interface PlannerOrder<N extends SignedQuery> {
  readonly name: N;
  readonly body: Omit<QueryRequest<'planner', N>, 'actor'>;
  readonly seed: string;
  /** A model may have to answer first. */
  readonly timeoutMs: number;
}

/** Asks the planner for something that costs or changes something: it is told who asks. Ctrl-C ends the waiting, not the work. */
export async function orderOfPlanner<N extends SignedQuery>(
  nc: NatsConnection,
  { now, signal }: Pick<CliContext, 'now' | 'signal'>,
  { name, body, seed, timeoutMs }: PlannerOrder<N>,
): Promise<QueryAnswer<'planner', N>> {
  const at = new Date(now()).toISOString();
  const actor = proveActor(seed, { subject: subjects.query('planner', name), at, body });
  const answer = query(nc, 'planner', name, { ...body, actor } as QueryRequest<'planner', N>, timeoutMs);
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(failure('Stopped waiting; the planner goes on.'));
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([answer, stopped]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
