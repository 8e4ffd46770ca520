const BITS = 5;
const WIDTH = 1 << BITS;
const MASK = WIDTH - 1;

/** A leaf holds items, every other node holds nodes; which one it is follows from the depth. */
type Node = readonly unknown[];

/**
 * An immutable array whose copies share what did not change: a tree of nodes of 32, of which `with` and `push` copy those on
 * the way to one item, so that folding an event costs the same in a run of ten tasks and of ten thousand.
 */
export class PersistentArray<T> {
  readonly #root: Node;
  /** Bits of an index that lie below the root. */
  readonly #shift: number;
  readonly length: number;

  private constructor(root: Node, shift: number, length: number) {
    this.#root = root;
    this.#shift = shift;
    this.length = length;
  }

  static from<T>(items: readonly T[]): PersistentArray<T> {
    let [nodes, shift] = [chunksOf(items), 0];
    for (; nodes.length > 1; shift += BITS) nodes = chunksOf(nodes);
    return new PersistentArray(nodes[0] ?? [], shift, items.length);
  }

  at(index: number): T {
    if (!(index >= 0 && index < this.length)) {
      throw new RangeError(`index ${index} is outside of 0..${this.length - 1}`);
    }
    let node = this.#root;
    for (let shift = this.#shift; shift > 0; shift -= BITS) node = node[(index >>> shift) & MASK] as Node;
    return node[index & MASK] as T;
  }

  with(index: number, item: T): PersistentArray<T> {
    if (this.at(index) === item) return this;
    return new PersistentArray(put(this.#root, this.#shift, index, item), this.#shift, this.length);
  }

  push(item: T): PersistentArray<T> {
    const index = this.length;
    const isFull = index === WIDTH << this.#shift;
    const [root, shift] = isFull ? [[this.#root], this.#shift + BITS] : [this.#root, this.#shift];
    return new PersistentArray(put(root, shift, index, item), shift, index + 1);
  }

  /** Every item that is not the same as in an array this one was made from; shared nodes are passed over. */
  forEachChanged(before: PersistentArray<T>, visit: (item: T, index: number) => void): void {
    let old: Node = before.#root;
    for (let shift = before.#shift; shift < this.#shift; shift += BITS) old = [old];
    visitChanged(
      { node: this.#root, old, shift: this.#shift, first: 0 },
      visit as (item: unknown, index: number) => void,
    );
  }

  /** Most hold no more than one leaf, whose own iterator is several times as fast. */
  [Symbol.iterator](): IterableIterator<T> {
    return this.#shift === 0 ? (this.#root as readonly T[]).values() : itemsOf<T>(this.#root, this.#shift);
  }
}

function chunksOf(items: readonly unknown[]): Node[] {
  const chunks: Node[] = [];
  for (let start = 0; start < items.length; start += WIDTH) chunks.push(items.slice(start, start + WIDTH));
  return chunks;
}

/** A copy of a node, and of all on the way down, with one item in its place; missing nodes are made. */
function put(node: Node, shift: number, index: number, item: unknown): Node {
  const copy = node.slice();
  const at = (index >>> shift) & MASK;
  copy[at] = shift === 0 ? item : put((node[at] as Node | undefined) ?? [], shift - BITS, index, item);
  return copy;
}

interface Compared {
  readonly node: Node;
  readonly old: Node | undefined;
  readonly shift: number;
  /** Index of the first item below. */
  readonly first: number;
}

function visitChanged({ node, old, shift, first }: Compared, visit: (item: unknown, index: number) => void): void {
  if (node === old) return;
  node.forEach((child, at) => {
    const index = first + (at << shift);
    if (shift === 0) {
      if (child !== old?.[at]) visit(child, index);
      return;
    }
    visitChanged({ node: child as Node, old: old?.[at] as Node | undefined, shift: shift - BITS, first: index }, visit);
  });
}

function* itemsOf<T>(node: Node, shift: number): Generator<T> {
  if (shift === 0) {
    yield* node as readonly T[];
    return;
  }
  for (const child of node) yield* itemsOf<T>(child as Node, shift - BITS);
}
