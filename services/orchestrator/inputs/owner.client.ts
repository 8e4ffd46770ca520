import type { NatsConnection } from '@nats-io/transport-node';
import { ask } from '#libs/messaging';
import { LIMITS, type RunId, type RunVerb, type SubmitCommand, subjects, VerbAnswer, type VerbBody } from '#proto';

/** Hands a verb to the replica that owns its run; undefined when none answers. Throws for an answer that is none. */
export async function askOwner(
  nc: NatsConnection,
  runId: RunId,
  verb: RunVerb | 'SUBMIT',
  body: SubmitCommand | VerbBody<RunVerb>,
): Promise<VerbAnswer | undefined> {
  const asked = await ask(nc, subjects.verb(runId, verb), JSON.stringify(body), LIMITS.verbAnswerMs);
  return asked.kind === 'answered' ? VerbAnswer.parse(asked.json) : undefined;
}
