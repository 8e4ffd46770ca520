import { keepProof } from '#libs/keys';
import type { Actors } from '#libs/messaging';
import {
  type Actor,
  ActorProof,
  FIRST_EXTERNAL,
  type KeptProof,
  mayDo,
  missingRole,
  parseWith,
  type Refusal,
  type Role,
  subjects,
} from '#proto';

/** Who asks for a run, and how that is known. */
export interface Requester {
  readonly actor: Actor;
  /** Where the ids of its requests are unique; part of the hash that gives the run id. */
  readonly namespace: string;
  /** He was an operator when the request came in. */
  readonly trusted?: true;
  /** Of a request that was signed; the others are as good as the permissions of the bus. */
  readonly proof?: KeptProof;
}

export type KnownRequester =
  { readonly ok: true; readonly requester: Requester } | { readonly ok: false; readonly refusal: Refusal };

const OF_ACTOR = subjects.requestsOf('');

interface Sent {
  /** Where it was published or asked. */
  readonly subject: string;
  /** The request, as it was sent, without what it says of its sender. */
  readonly json: unknown;
  /** What it says of its sender. */
  readonly actor?: unknown;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Who asks: on `orrery.submit` whose key has signed the request, elsewhere the one who alone may publish there. A published request may
 * be signed, too; it may have waited in the stream for long, so its proof does not grow old. That a request comes again does no
 * harm: it is the same run.
 */
export function requesterOf(sent: Sent, actors: Pick<Actors, 'actorOf' | 'actorNamed'>): KnownRequester {
  const { subject, actor } = sent;
  const isPublished = subject !== subjects.submit;
  if (!isPublished || actor !== undefined) {
    const signed = signerOf(sent, actors, isPublished);
    if (!signed.ok || !isPublished) return signed;
    const publisher = publisherOf(subject, actors);
    if (publisher?.actor.id === signed.requester.actor.id) return signed;
    return unauthorized(`it is of ${signed.requester.actor.id}, whose subject this is not`);
  }
  const publisher = publisherOf(subject, actors);
  if (publisher === undefined) return unauthorized(`${subject} is the subject of nobody here`);
  const { actor: who, namespace, roles } = publisher;
  return unlessAllowed(who, roles) ?? { ok: true, requester: { actor: who, namespace, ...trustOf(roles) } };
}

/** Undefined when these are the roles of somebody who may ask for runs. */
function unlessAllowed(who: Actor, roles: readonly Role[]): KnownRequester | undefined {
  if (mayDo(roles, 'SUBMIT')) return undefined;
  return unauthorized(missingRole('SUBMIT', who, roles));
}

const trustOf = (roles: readonly Role[]): Pick<Requester, 'trusted'> =>
  mayDo(roles, 'RUN_UNJUDGED') ? { trusted: true } : {};

function signerOf(
  { subject, json, actor, now }: Sent,
  actors: Pick<Actors, 'actorOf'>,
  isOld: boolean,
): KnownRequester {
  const parsed = parseWith(ActorProof, actor);
  if (!parsed.ok) {
    if (actor === undefined) return unauthorized('a request is signed by who asks; this one is not');
    const issues = parsed.issues.map(({ path, message }) => ({
      path: path === '' ? 'actor' : `actor.${path}`,
      message,
    }));
    return { ok: false, refusal: { code: 'INVALID_REQUEST', message: 'the proof of the sender is not valid', issues } };
  }
  const command = { subject, body: json as object };
  const known = actors.actorOf(parsed.value, { ...command, now: isOld ? Date.parse(parsed.value.at) : now });
  if (!known.ok) return known;
  const { actor: sender, namespace, roles } = known;
  return (
    unlessAllowed(sender, roles) ?? {
      ok: true,
      requester: { actor: sender, namespace, ...trustOf(roles), proof: keepProof(parsed.value, command) },
    }
  );
}

/** Who alone may publish there; undefined where nobody is known who may. */
export function publisherOf(subject: string, actors: Pick<Actors, 'actorNamed'>): ReturnType<Actors['actorNamed']> {
  return actors.actorNamed(publisherIdOf(subject));
}

/** The id of who alone may publish there, whether anybody has it or not. */
export const publisherIdOf = (subject: string): string =>
  subject === subjects.requests ? FIRST_EXTERNAL : subject.slice(OF_ACTOR.length);

function unauthorized(why: string): KnownRequester {
  const message = `actor: ${why}`;
  return { ok: false, refusal: { code: 'UNAUTHORIZED', message, issues: [{ path: 'actor', message: why }] } };
}
