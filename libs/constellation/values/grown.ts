/** What every part of a list comes to, one after the other. Of a list that has grown since, only what is new is looked at; where nothing came of that, it is the same array. */
export class Grown<P, T> {
  readonly #partsOf: (parts: readonly P[]) => readonly T[];
  #seen: readonly P[] = [];
  #all: readonly T[] = [];
  #looked = 0;

  /** `partsOf`: of parts of a list, one after the other, what comes of them; what comes of others does not matter for it. */
  constructor(partsOf: (parts: readonly P[]) => readonly T[]) {
    this.#partsOf = partsOf;
  }

  /** At how many parts it had to look so far. */
  get looked(): number {
    return this.#looked;
  }

  of(parts: readonly P[]): readonly T[] {
    const known = this.#seen.length;
    const goesOn = parts.length >= known && parts[0] === this.#seen[0] && parts[known - 1] === this.#seen[known - 1];
    const fresh = goesOn ? parts.slice(known) : parts;
    this.#looked += fresh.length;
    const more = this.#partsOf(fresh);
    this.#seen = parts;
    if (!goesOn) this.#all = more;
    else if (more.length > 0) this.#all = [...this.#all, ...more];
    return this.#all;
  }
}
