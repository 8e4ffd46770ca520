import type { StarPoints } from './star-window.js';

/** How keys lead from star to star. The stars of one rank stand beside each other across the direction of the lines. */
export class StarWalk {
  readonly #ranks: readonly (readonly string[])[];
  readonly #at = new Map<string, { readonly rank: number; readonly place: number; readonly across: number }>();
  readonly #direction: 'LR' | 'TB';

  constructor(places: StarPoints, direction: 'LR' | 'TB') {
    this.#direction = direction;
    const ranks = new Map<number, { readonly id: string; readonly across: number }[]>();
    for (const [id, { x, y }] of places) {
      const [along, across] = direction === 'LR' ? [Math.round(x), y] : [Math.round(y), x];
      const rank = ranks.get(along);
      if (rank === undefined) ranks.set(along, [{ id, across }]);
      else rank.push({ id, across });
    }
    const inOrder = [...ranks].sort(([one], [other]) => one - other).map(([, stars]) => stars);
    for (const [rank, stars] of inOrder.entries()) {
      stars.sort((one, other) => one.across - other.across);
      for (const [place, { id, across }] of stars.entries()) this.#at.set(id, { rank, place, across });
    }
    this.#ranks = inOrder.map((stars) => stars.map(({ id }) => id));
  }

  get first(): string | undefined {
    return this.#ranks[0]?.[0];
  }

  has(id: string): boolean {
    return this.#at.has(id);
  }

  /**
   * Where a key leads: along the lines to the nearest star of the next rank, across them from one to the next of the same rank, and
   * from its last to the first of the next one, so that one key reaches every star. Undefined: nowhere.
   */
  to(from: string, key: string): string | undefined {
    if (key === 'Home') return this.first;
    if (key === 'End') return this.#ranks.at(-1)?.at(-1);
    const at = this.#at.get(from);
    const [forth, back, next, before] =
      this.#direction === 'LR'
        ? ['ArrowRight', 'ArrowLeft', 'ArrowDown', 'ArrowUp']
        : ['ArrowDown', 'ArrowUp', 'ArrowRight', 'ArrowLeft'];
    if (at === undefined) return undefined;
    const { rank, place, across } = at;
    const rankOf = (number: number): readonly string[] => this.#ranks[number] ?? [];
    if (key === next) return rankOf(rank)[place + 1] ?? rankOf(rank + 1)[0];
    if (key === before) return place > 0 ? rankOf(rank)[place - 1] : rankOf(rank - 1).at(-1);
    if (key === forth) return this.#nearest(rankOf(rank + 1), across);
    if (key === back) return this.#nearest(rankOf(rank - 1), across);
    return undefined;
  }

  #nearest(stars: readonly string[], across: number): string | undefined {
    const far = (id: string): number => Math.abs((this.#at.get(id)?.across ?? Infinity) - across);
    return stars.reduce<string | undefined>(
      (best, id) => (best === undefined || far(id) < far(best) ? id : best),
      undefined,
    );
  }
}
