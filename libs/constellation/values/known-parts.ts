import { sameJson } from '#proto';

interface Known<T> {
  readonly from: readonly unknown[];
  readonly made: T;
}

/** What was made of something last, by its place. Made of the same, it is the same object; so it is where what comes of something else reads the same. */
export class KnownParts<T extends object> {
  readonly #known: (Known<T> | undefined)[] = [];
  #made = 0;

  /** How often something had to be made so far. */
  get made(): number {
    return this.#made;
  }

  of(place: number, from: readonly unknown[], make: () => T): T {
    const known = this.#known[place];
    if (known?.from.every((part, at) => Object.is(part, from[at])) === true) return known.made;
    this.#made += 1;
    const fresh = make();
    const made = known !== undefined && sameJson(known.made, fresh) ? known.made : fresh;
    this.#known[place] = { from, made };
    return made;
  }
}
