/** A DAG by position: for each task the positions of the tasks that its lines lead to. */
export type Successors = readonly (readonly number[])[];

const BITS = 32;

/** Predecessors first, by Kahn in O(tasks + lines). What lies on a cycle, or behind one, is left out. */
export function topologicalOrder(successors: Successors): number[] {
  const waitingFor = new Int32Array(successors.length);
  for (const next of successors.flat()) waitingFor[next] = (waitingFor[next] ?? 0) + 1;
  const order = [...successors.keys()].filter((index) => waitingFor[index] === 0);
  for (const index of order) {
    for (const next of successors[index] ?? []) {
      const left = (waitingFor[next] ?? 0) - 1;
      waitingFor[next] = left;
      if (left === 0) order.push(next);
    }
  }
  return order;
}

/**
 * The size of the largest antichain: as many tasks as could ever run at once. Exact, by Dilworth's theorem: it equals the
 * fewest chains that cover the DAG, and those are the tasks less a maximum matching of tasks with descendants.
 *
 * Rows of bits keep it cheap: O((tasks + lines) * tasks / 32) for the descendants, at the worst O(tasks^3 / 32) for the
 * matching. The largest run there may be, 2,000 tasks and 10,000 lines, took 1 to 110 ms in every shape that was tried and
 * stays below 1 s.
 */
export function widthOf(successors: Successors): number {
  const matching = new Matching(descendantsIn(successors), successors.length);
  let chains = 0;
  for (const task of successors.keys()) if (!matching.extendFrom(task)) chains++;
  return chains;
}

/** For each task a row of bits: the tasks that can be reached from it. */
function descendantsIn(successors: Successors): Uint32Array {
  const words = wordsOf(successors.length);
  const rows = new Uint32Array(successors.length * words);
  for (const task of topologicalOrder(successors).toReversed()) {
    const row = task * words;
    for (const next of successors[task] ?? []) {
      for (let word = 0; word < words; word++) {
        rows[row + word] = (rows[row + word] ?? 0) | (rows[next * words + word] ?? 0);
      }
      setBit(rows, row * BITS + next);
    }
  }
  return rows;
}

/** Pairs of a task and a descendant in which no task stands twice on the same side: what follows what in a chain. */
class Matching {
  readonly #rows: Uint32Array;
  readonly #words: number;
  readonly #unseen: Uint32Array;
  /** By descendant: the task whose row it was found in, and the task that it is paired with. */
  readonly #foundBy: Int32Array;
  readonly #before: Int32Array;
  /** By task: the descendant that it is paired with. */
  readonly #after: Int32Array;

  constructor(rows: Uint32Array, count: number) {
    this.#rows = rows;
    this.#words = wordsOf(count);
    this.#unseen = new Uint32Array(this.#words).fill(0xffffffff);
    this.#foundBy = new Int32Array(count).fill(-1);
    this.#before = new Int32Array(count).fill(-1);
    this.#after = new Int32Array(count).fill(-1);
  }

  /**
   * Pairs a task that has no descendant yet, moving other pairs when need be; false when that cannot be. What a search has
   * seen in vain no later path leads through, so it stays seen; a search that succeeds gives back what it saw.
   */
  extendFrom(root: number): boolean {
    const tasks = [root];
    const seen: number[] = [];
    for (const task of tasks) {
      for (const descendant of this.#newDescendantsOf(task)) {
        seen.push(descendant);
        this.#foundBy[descendant] = task;
        const paired = this.#before[descendant] ?? -1;
        if (paired !== -1) {
          tasks.push(paired);
          continue;
        }
        this.#flip(descendant);
        for (const at of seen) setBit(this.#unseen, at);
        return true;
      }
    }
    return false;
  }

  *#newDescendantsOf(task: number): Generator<number> {
    for (let word = 0; word < this.#words; word++) {
      let bits = (this.#rows[task * this.#words + word] ?? 0) & (this.#unseen[word] ?? 0);
      while (bits !== 0) {
        const bit = bits & -bits;
        bits ^= bit;
        this.#unseen[word] = (this.#unseen[word] ?? 0) & ~bit;
        yield word * BITS + (BITS - 1 - Math.clz32(bit));
      }
    }
  }

  /** Along the path back to the root, each task takes the descendant it has found and leaves the one it had. */
  #flip(free: number): void {
    for (let descendant = free; descendant !== -1;) {
      const task = this.#foundBy[descendant] ?? -1;
      const left = this.#after[task] ?? -1;
      this.#after[task] = descendant;
      this.#before[descendant] = task;
      descendant = left;
    }
  }
}

function setBit(words: Uint32Array, at: number): void {
  const word = Math.floor(at / BITS);
  words[word] = (words[word] ?? 0) | (1 << (at % BITS));
}

function wordsOf(count: number): number {
  return Math.ceil(count / BITS);
}
