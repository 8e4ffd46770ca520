/** Added entries beyond this are merged into the base, so that adding one costs little however many there are. */
const ADDED_MAX = 64;

/** An immutable map from ids to positions whose copies share what did not change: adding costs the same in a large one. */
export class IdIndex {
  readonly #base: ReadonlyMap<string, number>;
  readonly #added: ReadonlyMap<string, number>;

  private constructor(base: ReadonlyMap<string, number>, added: ReadonlyMap<string, number>) {
    this.#base = base;
    this.#added = added;
  }

  /** Each id at its place in the list; of an id that stands there twice, the last place. */
  static of(ids: Iterable<string>): IdIndex {
    const base = new Map<string, number>();
    let position = 0;
    for (const id of ids) base.set(id, position++);
    return new IdIndex(base, new Map());
  }

  get(id: string): number | undefined {
    return (this.#added.size > 0 ? this.#added.get(id) : undefined) ?? this.#base.get(id);
  }

  with(id: string, position: number): IdIndex {
    const added = new Map(this.#added).set(id, position);
    if (added.size < ADDED_MAX) return new IdIndex(this.#base, added);
    return new IdIndex(new Map([...this.#base, ...added]), new Map());
  }
}
