import { keepProof } from '#libs/keys';
import {
  ActorProof,
  isSignedAction,
  mayDo,
  missingRole,
  parseWith,
  ROLE_TABLE,
  type Actor,
  type KeptProof,
  type QueryAction,
  type Role,
} from '#proto';
import { refused } from './refused.js';
import { HALF_A_CHARACTER, hasCanonicalForm } from './signing.js';

/** Who sends a command, and what it is trusted with. */
export interface Sender {
  readonly actor: Actor;
  /** Where its request ids are unique. */
  readonly namespace: string;
  readonly roles: readonly Role[];
  /** It may say in whose name it sends a command, and has not done so here. */
  readonly mayVouch: boolean;
}

/** Who asks, and may, and what proves it: to be kept with what follows. */
export interface Asker extends Sender {
  readonly proof: KeptProof;
}

/** A query as it was signed. */
export interface SignedQuery {
  readonly subject: string;
  /** The JSON, before any schema has filled in a default. */
  readonly body: object;
  readonly proof: ActorProof;
}

/** Who has signed it; rejects with QueryRefusedError that says what is wrong with the proof. */
export type Authority = (query: SignedQuery) => Promise<Sender>;

interface Asked {
  readonly action: QueryAction;
  readonly subject: string;
  readonly authority: Authority;
}

interface AskedBy {
  readonly body: unknown;
  readonly asker: Asker | undefined;
}

/**
 * The request in a query, and who asks: nobody, in one of services among themselves. The table of roles decides: who has no row for it, or no role, is refused. What is allowed about one's own only
 * is let through here: its handler knows whose it is, and says so with `unlessOwn`.
 */
export async function askerOf(json: unknown, asked: Asked): Promise<AskedBy> {
  const { action, subject, authority } = asked;
  if (!isSignedAction(action)) return { body: json, asker: undefined };
  const { actor, ...body } = Object(json) as Record<string, unknown>;
  if (actor === undefined) {
    throw refused('UNAUTHORIZED', 'It is not signed.', [{ path: 'actor', message: 'must be the proof of who asks' }]);
  }
  const proof = parseWith(ActorProof, actor);
  if (!proof.ok) {
    const issues = proof.issues.map(({ path, message }) => ({
      path: path === '' ? 'actor' : `actor.${path}`,
      message,
    }));
    throw refused('INVALID_REQUEST', 'The proof of who asks is not valid.', issues);
  }
  if (!hasCanonicalForm(body))
    throw refused('INVALID_REQUEST', 'The query is not valid.', [{ path: '', message: HALF_A_CHARACTER }]);
  const sender = await authority({ subject, body, proof: proof.value });
  const may = ROLE_TABLE[action].services === 'vouches' ? sender.mayVouch : mayDo(sender.roles, action, { own: true });
  if (!may) throw unauthorized(action, sender);
  return { body, asker: { ...sender, proof: keepProof(proof.value, { subject, body }) } };
}

/** Refuses what is about somebody else's, for who may do it about his own only. */
export function unlessOwn(action: QueryAction, sender: Sender, own: boolean): void {
  if (!mayDo(sender.roles, action, { own })) throw unauthorized(action, sender);
}

function unauthorized(action: QueryAction, { actor, roles }: Sender): Error {
  return refused('UNAUTHORIZED', `${missingRole(action, actor, roles)}.`);
}
