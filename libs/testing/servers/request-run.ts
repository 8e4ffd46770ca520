import type { NatsConnection } from '@nats-io/transport-node';
import { submitRequest } from '#libs/messaging';
import type { RunId } from '#proto';

const PATIENCE = { deadlineMs: 60_000, waitsForTaker: true };

/** Sends a request until it is a run: partitions and planners are known within a heartbeat or two. Throws any other refusal. */
export async function requestRun(nc: NatsConnection, request: object | string): Promise<RunId> {
  const text = typeof request === 'string' ? request : JSON.stringify(request);
  for (;;) {
    const outcome = await submitRequest(nc, text, PATIENCE);
    if (outcome.answer === 'accepted') return outcome.runId;
    if (outcome.answer === 'rejected' && outcome.reason.code === 'NO_PLANNER') continue;
    throw new Error(`${text} became no run: ${JSON.stringify(outcome)}`);
  }
}
