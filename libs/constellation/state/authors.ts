import type { Actor } from '#proto';

/** Somebody who had a part in what a run does: what he approved of it, nobody else would have looked at. */
export interface Author {
  readonly actor: Actor;
  /** `parent`: in the run that this one was forked from. `said`: his words are what its planner was asked about. `wrote`: on its board. */
  readonly part: 'requested' | 'edited' | 'forked' | 'parent' | 'said' | 'wrote';
}

/** A run is somebody's own who asked for it, or shaped it himself; who said something to it, wrote on its board, or had a part in its parent, owns nothing. */
export const isOwner = (author: Author | undefined): boolean =>
  author !== undefined && (author.part === 'requested' || author.part === 'edited' || author.part === 'forked');

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
  said: 'said what this run is to do',
  wrote: 'wrote on the board of this run',
};

/** `anna requested this run`. */
export const authorText = ({ actor, part }: Author): string => `${actor.id} ${PARTS[part]}`;
