import { refused, type Authority } from '../verbs/index.js';
import type { Actors } from './actors.adapter.js';

/** Who has signed a query, as the log of actors says now. */
export function authorityOf(actors: Pick<Actors, 'actorOf' | 'lookFor'>, clock: { now(): number }): Authority {
  return async ({ proof, subject, body }) => {
    await actors.lookFor(proof);
    const answer = actors.actorOf(proof, { subject, body, now: clock.now() });
    if (!answer.ok) throw refused(answer.refusal.code, answer.refusal.message, answer.refusal.issues);
    const { ok: _, ...sender } = answer;
    return sender;
  };
}
