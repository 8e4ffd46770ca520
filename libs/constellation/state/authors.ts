import type { Actor } from '#proto';

/** Somebody who had a part in what a run does: what he approved of it, nobody else would have looked at. */
export interface Author {
  readonly actor: Actor;
  /** `parent`: in the run that this one was forked from. */
  readonly part: 'requested' | 'edited' | 'forked' | 'parent';
}

export const sameActor = (one: Actor, other: Actor): boolean => one.kind === other.kind && one.id === other.id;

/** Persons and other systems; a service of this one approves nothing, and plans in the name of who asked. The first part counts. */
export function withAuthor(authors: readonly Author[], actor: Actor, part: Author['part']): readonly Author[] {
  if (actor.kind === 'system' || authors.some((known) => sameActor(known.actor, actor))) return authors;
  return [...authors, { actor, part }];
}

export function authorOf({ authors }: { readonly authors: readonly Author[] }, actor: Actor): Author | undefined {
  return authors.find((known) => sameActor(known.actor, actor));
}

const PARTS: Readonly<Record<Author['part'], string>> = {
  requested: 'requested this run',
  edited: 'changed the plan of this run',
  forked: 'forked this run',
  parent: 'had a part in the run that this one was forked from',
};

/** `anna requested this run`. */
export const authorText = ({ actor, part }: Author): string => `${actor.id} ${PARTS[part]}`;
