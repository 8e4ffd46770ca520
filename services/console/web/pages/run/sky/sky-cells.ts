import type { SkyPoint } from './star-window.js';

/** A part of the plane, with what stands or begins in it. */
export interface SkyCell<T> {
  readonly key: string;
  readonly items: readonly T[];
}

/** How large a part is: a change draws one of them anew, and a browser passes over those that are not seen. */
const WIDTH = 640;
const HEIGHT = 320;

/** Stars or lines by the part of the plane where they are. A part in which nothing has changed is the same object, so that nobody draws it again. */
export class SkyCells<T extends { readonly id: string }> {
  readonly #placeOf: (item: T) => SkyPoint | undefined;
  #items: readonly T[] = [];
  #cells: SkyCell<T>[] = [];
  /** Of each item the number of its cell, and of each cell the numbers of its items. */
  #cellOf: readonly (number | undefined)[] = [];
  #members: readonly (readonly number[])[] = [];

  /** Items without a place are left out. Where one stands never changes: other places are other cells. */
  constructor(placeOf: (item: T) => SkyPoint | undefined) {
    this.#placeOf = placeOf;
  }

  of(items: readonly T[]): readonly SkyCell<T>[] {
    if (items === this.#items) return this.#cells;
    const before = this.#items;
    this.#items = items;
    if (items.length !== before.length) return this.#anew();
    const touched = new Set<number>();
    for (const [at, item] of items.entries()) {
      const old = before[at];
      if (item === old) continue;
      if (item.id !== old?.id) return this.#anew();
      const cell = this.#cellOf[at];
      if (cell !== undefined) touched.add(cell);
    }
    if (touched.size === 0) return this.#cells;
    this.#cells = this.#cells.map((cell, number) =>
      touched.has(number) ? { key: cell.key, items: this.#itemsOf(number) } : cell,
    );
    return this.#cells;
  }

  #anew(): readonly SkyCell<T>[] {
    const numbers = new Map<string, number>();
    const members: number[][] = [];
    this.#cellOf = this.#items.map((item, at) => {
      const place = this.#placeOf(item);
      if (place === undefined) return undefined;
      const key = `${Math.floor(place.x / WIDTH)} ${Math.floor(place.y / HEIGHT)}`;
      const number = numbers.get(key) ?? numbers.size;
      numbers.set(key, number);
      (members[number] ??= []).push(at);
      return number;
    });
    this.#members = members;
    this.#cells = [...numbers].map(([key, number]) => ({ key, items: this.#itemsOf(number) }));
    return this.#cells;
  }

  #itemsOf(number: number): T[] {
    return (this.#members[number] ?? []).flatMap((at) => this.#items[at] ?? []);
  }
}
