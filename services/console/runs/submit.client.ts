import { errors, type NatsConnection } from '@nats-io/transport-node';
import { LIMITS, parseWith, SubmitAnswer, subjects } from '#proto';
import { jsonObject, RefusedError } from '../http/index.js';

/** The answer comes within the limit or never; the rest is for the way. */
const ANSWER_MS_MAX = LIMITS.submitAnswerMs + 1_000;

export interface Accepted {
  readonly runId: string;
  readonly requestId: string;
}

/** Sends a request to whoever accepts requests; throws RefusedError. Safe to repeat with the same request id. */
export async function submit(nc: NatsConnection, body: Uint8Array | string): Promise<Accepted> {
  const answer = parseWith(SubmitAnswer, await ask(nc, body));
  if (!answer.ok) throw new RefusedError({ code: 'TRY_AGAIN', message: 'The orchestrator gave no valid answer.' });
  if ('error' in answer.value) throw new RefusedError(answer.value.error);
  return answer.value;
}

async function ask(nc: NatsConnection, body: Uint8Array | string): Promise<unknown> {
  try {
    return (await nc.request(subjects.submit, body, { timeout: ANSWER_MS_MAX })).json();
  } catch (error) {
    const nobody = error instanceof errors.RequestError && error.isNoResponders();
    const message = nobody ? 'The orchestrator is not running.' : 'The orchestrator did not answer in time.';
    throw new RefusedError({ code: 'TRY_AGAIN', message: `${message} Send the same request id again.` });
  }
}

/** A request as it came, with the idempotency key as its id when it has none of its own. */
export function withRequestId(body: Uint8Array, idempotencyKey: string | undefined): Uint8Array | string {
  const json = jsonObject(body);
  if ('requestId' in json || idempotencyKey === undefined) return body;
  return JSON.stringify({ ...json, requestId: idempotencyKey });
}
