// From tasks and lines to columns and rows. Layers are longest paths from the roots, so that every line points right:
//
//   layer 0      layer 1      layer 2
//   a ───────┬── b ────────── d
//            └── ─────────────┘      a line that spans layers gets a place in each of them, so it crosses no task

export interface Edge {
  readonly from: string;
  readonly to: string;
}

/** A place in a layer: a task, or where a long line of `source` passes through. */
export interface Slot {
  readonly source: string;
  readonly passing: boolean;
}

/** Between layer i and layer i+1: from row to row. */
export interface Link {
  readonly from: number;
  readonly to: number;
}

export interface Layout {
  readonly layers: readonly (readonly Slot[])[];
  /** `gutters[i]` lies between layer i and i+1. */
  readonly gutters: readonly (readonly Link[])[];
}

const SWEEPS = 4;

/** Total: lines to unknown tasks are left out, and tasks on a cycle (only an altered record has them) share the last layer. */
export function layoutOf(tasks: readonly string[], edges: readonly Edge[]): Layout {
  const known = new Set(tasks);
  const usable = edges.filter(({ from, to }) => known.has(from) && known.has(to) && from !== to);
  const depth = depthsOf(tasks, usable);
  const drawn = usable.filter(({ from, to }) => at(depth, from) < at(depth, to));
  const layers = ordered(slotsOf(tasks, drawn, depth), drawn, depth);
  return { layers, gutters: guttersOf(layers, drawn, depth) };
}

/** The layers without their order and lines: cheap for any number of tasks. */
export function layersOf(tasks: readonly string[], edges: readonly Edge[]): string[][] {
  const known = new Set(tasks);
  const usable = edges.filter(({ from, to }) => known.has(from) && known.has(to) && from !== to);
  const depth = depthsOf(tasks, usable);
  const layers: string[][] = Array.from({ length: Math.max(0, ...depth.values()) + 1 }, () => []);
  for (const task of tasks) layers[at(depth, task)]?.push(task);
  return layers;
}

/** Longest path from a root, by peeling off what waits for nothing (Kahn). */
function depthsOf(tasks: readonly string[], edges: readonly Edge[]): Map<string, number> {
  const waitingFor = new Map(tasks.map((task) => [task, 0]));
  const outgoing = new Map<string, string[]>();
  for (const { from, to } of edges) {
    waitingFor.set(to, at(waitingFor, to) + 1);
    outgoing.set(from, [...(outgoing.get(from) ?? []), to]);
  }
  const depth = new Map<string, number>();
  const peeled = tasks.filter((task) => at(waitingFor, task) === 0);
  for (const task of peeled) depth.set(task, 0);
  for (const task of peeled) {
    for (const next of outgoing.get(task) ?? []) {
      depth.set(next, Math.max(depth.get(next) ?? 0, at(depth, task) + 1));
      waitingFor.set(next, at(waitingFor, next) - 1);
      if (at(waitingFor, next) === 0) peeled.push(next);
    }
  }
  const deepest = Math.max(0, ...peeled.map((task) => at(depth, task)));
  const done = new Set(peeled);
  for (const task of tasks) if (!done.has(task)) depth.set(task, peeled.length === 0 ? 0 : deepest + 1);
  return depth;
}

/** One chain of passing places per source, as far as its farthest line: lines of one source may share it. */
function slotsOf(tasks: readonly string[], edges: readonly Edge[], depth: ReadonlyMap<string, number>): Slot[][] {
  const layers: Slot[][] = Array.from({ length: Math.max(0, ...depth.values()) + 1 }, () => []);
  for (const task of tasks) layers[at(depth, task)]?.push({ source: task, passing: false });
  const farthest = new Map<string, number>();
  for (const { from, to } of edges) farthest.set(from, Math.max(farthest.get(from) ?? 0, at(depth, to)));
  for (const [source, end] of farthest) {
    for (let layer = at(depth, source) + 1; layer < end; layer++) layers[layer]?.push({ source, passing: true });
  }
  return layers;
}

/** Barycentres: a place goes where the average of its predecessors is, which straightens most lines. */
function ordered(layers: Slot[][], edges: readonly Edge[], depth: ReadonlyMap<string, number>): Slot[][] {
  let current = layers;
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const gutters = guttersOf(current, edges, depth);
    const next: Slot[][] = [];
    for (const [index, layer] of current.entries()) {
      const links = gutters[index - 1] ?? [];
      const before = next[index - 1];
      const moved = new Map((before ?? []).map((slot, row) => [keyOf(slot), row]));
      const rank = (row: number): number => {
        const into = links.filter(({ to }) => to === row);
        if (into.length === 0) return row;
        const rows = into.map(({ from }) => {
          const slot = current[index - 1]?.[from];
          return slot === undefined ? from : (moved.get(keyOf(slot)) ?? from);
        });
        return rows.reduce((sum, value) => sum + value, 0) / rows.length;
      };
      const ranked = layer.map((slot, row) => ({ slot, row, rank: rank(row) }));
      ranked.sort((a, b) => a.rank - b.rank || a.row - b.row);
      next.push(ranked.map(({ slot }) => slot));
    }
    current = next;
  }
  return current;
}

function guttersOf(
  layers: readonly (readonly Slot[])[],
  edges: readonly Edge[],
  depth: ReadonlyMap<string, number>,
): Link[][] {
  const rows = layers.map((layer) => new Map(layer.map((slot, row) => [keyOf(slot), row])));
  const links = layers.slice(1).map(() => new Map<string, Link>());
  const link = (gutter: number, from: number | undefined, to: number | undefined): void => {
    if (from !== undefined && to !== undefined) links[gutter]?.set(`${from}>${to}`, { from, to });
  };
  for (const { from, to } of edges) {
    let row = rows[at(depth, from)]?.get(keyOf({ source: from, passing: false }));
    for (let layer = at(depth, from) + 1; layer <= at(depth, to); layer++) {
      const last = layer === at(depth, to);
      const next = rows[layer]?.get(keyOf(last ? { source: to, passing: false } : { source: from, passing: true }));
      link(layer - 1, row, next);
      row = next;
    }
  }
  return links.map((gutter) => [...gutter.values()]);
}

function keyOf({ source, passing }: Slot): string {
  return `${passing ? '>' : ''}${source}`;
}

function at(numbers: ReadonlyMap<string, number>, key: string): number {
  return numbers.get(key) ?? 0;
}
