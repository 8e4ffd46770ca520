import { errors, type NatsConnection } from '@nats-io/transport-node';
import { parseJson } from '#proto';

/** What became of a question that was put once. Who did not answer may have heard it all the same, unless it was `nobody`. */
export type QuestionOutcome =
  /** `json` is undefined when the answer is none. */
  | { readonly kind: 'answered'; readonly json: unknown }
  /** `denied`: this user of the bus may not ask that. `closed`: there will be no answer on this connection. */
  | { readonly kind: 'nobody' | 'silent' | 'denied' | 'broken' | 'closed'; readonly cause: unknown };

/** Puts a question to the service behind the subject, once. Never throws. */
export async function ask(
  nc: NatsConnection,
  subject: string,
  question: string | Uint8Array,
  timeoutMs: number,
): Promise<QuestionOutcome> {
  try {
    return { kind: 'answered', json: parseJson((await nc.request(subject, question, { timeout: timeoutMs })).data) };
  } catch (cause) {
    return { kind: faultOf(cause), cause };
  }
}

function faultOf(error: unknown): Exclude<QuestionOutcome['kind'], 'answered'> {
  if (error instanceof errors.ClosedConnectionError || error instanceof errors.DrainingConnectionError) return 'closed';
  if (error instanceof errors.TimeoutError) return 'silent';
  if (!(error instanceof errors.RequestError)) return 'broken';
  if (error.isNoResponders()) return 'nobody';
  return error.cause instanceof errors.PermissionViolationError ? 'denied' : 'broken';
}
