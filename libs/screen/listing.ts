import type { Rect } from './rectangles.js';

/** A control or window that was listed: what it was when somebody looked. */
export interface ListedThing {
  /** Counts from 1 in the order of the listing, and means nothing in another. */
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly rect: Rect;
}

/** Everything that was listed at once, under a name that no other listing has. */
export interface Listing<T extends ListedThing> {
  readonly name: string;
  readonly entries: readonly T[];
}

/** What somebody says of the thing that is to be acted on: all of it has to be true. */
export interface SaidThing {
  readonly id: string;
  readonly name?: string | undefined;
  readonly type?: string | undefined;
  /** The listing that the id is of. */
  readonly listing?: string | undefined;
}

export type FoundEntry<T> =
  { readonly entry: T } | { readonly code: 'WINDOW_CHANGED' | 'NOT_FOUND' | 'MISMATCH'; readonly why: string };

/** The things in their order, with ids. */
export const listingOf = <T extends Omit<ListedThing, 'id'>>(
  name: string,
  things: readonly T[],
): Listing<T & Pick<ListedThing, 'id'>> => ({
  name,
  entries: things.map((thing, index) => ({ ...thing, id: `${index + 1}` })),
});

/** Looks an id up: only in the listing that it is of, and only what it is said to be. */
export function listedEntry<T extends ListedThing>(
  listing: Listing<T>,
  { id, name, type, listing: of }: SaidThing,
): FoundEntry<T> {
  if (of !== undefined && of !== listing.name) {
    return { code: 'WINDOW_CHANGED', why: `ids of the listing ${of} are not valid any more; list again` };
  }
  const entry = listing.entries.find((one) => one.id === id);
  if (entry === undefined) {
    return {
      code: 'NOT_FOUND',
      why: `there is no id "${id}" in the newest listing, which has ${listing.entries.length}`,
    };
  }
  if (name !== undefined && name !== entry.name) {
    return { code: 'MISMATCH', why: `id ${id} is named ${JSON.stringify(entry.name)}, not ${JSON.stringify(name)}` };
  }
  if (type !== undefined && type !== entry.type) {
    return { code: 'MISMATCH', why: `id ${id} is of the type ${entry.type}, not ${type}` };
  }
  return { entry };
}
