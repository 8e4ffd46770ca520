import type { NatsConnection } from '@nats-io/transport-node';
import { proveActor } from '#libs/keys';
import { submitRequest } from '#libs/messaging';
import { moment } from './moment.js';
import { subjects, type Actor, type Role, type RunId } from '#proto';
import { introduceWith } from './test-bus.js';

const PATIENCE = { deadlineMs: 60_000, waitsForTaker: true, now: () => Date.now() };
/** An operator: what it asks for runs as it stands. */
const REQUESTER: Actor = { kind: 'external', id: 'external' };
/** What comes before everybody knows of everybody. */
const NOT_YET: ReadonlySet<string> = new Set(['NO_PLANNER', 'UNAUTHORIZED']);
const seeds = new WeakMap<NatsConnection, Promise<string>>();

/** What somebody signs his requests with who is made known on a bus that is open to everybody; one for each connection. */
function requesterOn(nc: NatsConnection): Promise<string> {
  const roles: Role[] = ['requester', 'operator'];
  const known = seeds.get(nc) ?? introduceWith(nc, REQUESTER, roles, { namespace: 'default' });
  seeds.set(nc, known);
  return known;
}

/** A request for `orrery.submit` or another subject, signed by somebody who is made known on a bus that is open to everybody. */
export async function signedRequest(
  nc: NatsConnection,
  body: object,
  subject: string = subjects.submit,
): Promise<string> {
  const at = new Date().toISOString();
  const actor = proveActor(await requesterOn(nc), { subject, at, body });
  return JSON.stringify({ ...body, actor });
}

/**
 * Sends a request until it is a run: partitions, planners and keys are known within a heartbeat or two. Signed with the seed of
 * somebody whom the bus knows. Throws any other refusal.
 */
export async function requestRun(nc: NatsConnection, request: object | string, seed?: string): Promise<RunId> {
  const text = typeof request === 'string' ? request : JSON.stringify(request);
  const signer = { seed: seed ?? (await requesterOn(nc)) };
  for (;;) {
    const outcome = await submitRequest(nc, text, { ...PATIENCE, ...signer });
    if (outcome.answer === 'accepted') return outcome.runId;
    if (outcome.answer !== 'rejected' || !NOT_YET.has(outcome.reason.code))
      throw new Error(`${text} became no run: ${JSON.stringify(outcome)}`);
    await moment();
  }
}
