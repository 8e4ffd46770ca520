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
    const isMore = goesOn(this.#seen, parts);
    const fresh = isMore ? parts.slice(this.#seen.length) : parts;
    this.#looked += fresh.length;
    const more = this.#partsOf(fresh);
    this.#seen = parts;
    if (!isMore) this.#all = more;
    else if (more.length > 0) this.#all = [...this.#all, ...more];
    return this.#all;
  }
}

/** Whether a list is one that was seen, with more behind it. Both are of one history: ends that are the same are the same list. */
export function goesOn<P>(seen: readonly P[], parts: readonly P[]): boolean {
  const known = seen.length;
  return parts.length >= known && parts[0] === seen[0] && parts[known - 1] === seen[known - 1];
}
