import { isDeepStrictEqual } from 'node:util';
import type { NatsConnection } from '@nats-io/transport-node';
import { createUser } from '@nats-io/nkeys';
import { ask, QueryRefusedError, signsQueries, type Authority } from '#libs/messaging';
import { QueryError, Role, type Actor, type KeptProof } from '#proto';
import { introduce } from './test-bus.js';

/** For a stand-in that asks nobody who he is: whoever has signed may do everything. */
export const ANYBODY: Authority = async () => ({
  actor: { kind: 'person', id: 'cli' },
  namespace: 'default',
  roles: Role.options,
  mayVouch: true,
});

/** Signs what is asked by this connection, in nobody's name: for stand-ins that take ANYBODY. */
export function asksAsAnybody(nc: NatsConnection): void {
  signsQueries(nc, { seed: new TextDecoder().decode(createUser().getSeed()), now: Date.now });
}

/** Signs what is asked by this connection in the name of somebody who is made known on a bus that is open to everybody; gives the seed. */
export async function asksAs(nc: NatsConnection, actor: Actor = { kind: 'person', id: 'cli' }): Promise<string> {
  const seed = await introduce(nc, actor);
  signsQueries(nc, { seed, now: Date.now });
  return seed;
}

/** A limit for what hangs: what is slow has a busy machine. */
const ANSWER_MS = 60_000;

/** Asks as it is said, whoever has signed it or not: what `query` would never send. Throws QueryRefusedError. */
export async function askRaw(nc: NatsConnection, subject: string, question: object): Promise<unknown> {
  const asked = await ask(nc, subject, JSON.stringify(question), ANSWER_MS);
  if (asked.kind !== 'answered') throw new Error(`${subject}: ${asked.kind}`);
  const no = QueryError.safeParse(asked.json);
  if (no.success) throw new QueryRefusedError(no.data.error);
  return asked.json;
}

/** What somebody was asked, without repetitions: a question whose answer is late is put a second time. */
export function askedOnce<T>(asked: readonly T[]): T[] {
  return asked.filter((one, index) => index === 0 || !isDeepStrictEqual(one, asked[index - 1]));
}

/** Stands for the proof of somebody, where it is only kept. */
export const ANY_PROOF: KeptProof = {
  key: `U${'A'.repeat(55)}`,
  at: '2026-11-20T12:00:00.000Z',
  signature: 'AAAA',
  subject: 'orrery.v.registry.enroll',
  body: {},
};
