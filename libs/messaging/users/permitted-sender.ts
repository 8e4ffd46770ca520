import { mayDo, rolesFor, subjects, type ActionName, type ActorProof, type Role } from '#proto';
import { refused, type QueryName, type QueryService } from '../verbs/index.js';
import type { Actors, Sender } from './actors.adapter.js';

interface AskedQuery<S extends QueryService, N extends QueryName<S>> {
  readonly service: S;
  readonly name: N;
  /** As it came: what was parsed is what was signed, for none of them has defaults. */
  readonly request: { readonly actor?: ActorProof | undefined };
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Whether it is about what is the sender's own. */
  readonly own?: (sender: Sender) => boolean;
}

/** Who sends a signed query, and may. Throws QueryRefusedError that says what is wrong with the proof, or which role is needed. */
export function permittedSender<S extends QueryService, N extends QueryName<S>>(
  actors: Pick<Actors, 'actorOf'>,
  { service, name, request, now, own = () => false }: AskedQuery<S, N>,
): Sender {
  const { actor: proof } = request;
  if (proof === undefined) {
    throw refused('UNAUTHORIZED', 'It is not signed.', [{ path: 'actor', message: 'must be the proof of who asks' }]);
  }
  const answer = actors.actorOf(proof, { subject: subjects.query(service, name), body: request, now });
  if (!answer.ok) throw refused(answer.refusal.code, answer.refusal.message, answer.refusal.issues);
  const { ok: _, ...sender } = answer;
  unlessAllowed(sender, `${service}.${name}` as ActionName, own(sender));
  return sender;
}

/** Throws QueryRefusedError that names the roles of which one is needed. */
export function unlessAllowed(
  { actor, roles }: Pick<Sender, 'actor' | 'roles'>,
  action: ActionName,
  own: boolean,
): void {
  if (!mayDo(roles, action, { own })) throw refused('UNAUTHORIZED', missing(actor.id, roles, action));
}

function missing(id: string, roles: readonly Role[], action: ActionName): string {
  const wanted = rolesFor(action);
  const needs = wanted.length === 0 ? 'is for services only' : `needs the role ${wanted.join(' or ')}`;
  return `${action} ${needs}; ${id} has ${roles.length === 0 ? 'none' : roles.join(', ')}.`;
}
