import type { Line, Plan } from './target.js';

/** One task after the other. */
export function chain(length: number): Plan {
  const tasks = Array.from({ length }, (_, index) => `t${index}`);
  const lines = tasks.slice(1).map((to, index): Line => [`t${index}`, to]);
  return { name: `chain-${length}`, tasks, lines };
}

/** One task, then `width` of them at once, then one that waits for all. */
export function fan(width: number): Plan {
  const middle = Array.from({ length: width }, (_, index) => `m${index}`);
  const lines = middle.flatMap((id): Line[] => [
    ['first', id],
    [id, 'last'],
  ]);
  return { name: `fan-${width}`, tasks: ['first', ...middle, 'last'], lines };
}

/** One task over many devices, wave by wave. */
export function waves(devices: number, size: number): Plan {
  return { name: `waves-${devices}-${size}`, tasks: ['sweep'], lines: [], waves: { devices, size } };
}

export interface LayeredOptions {
  readonly tasks: number;
  readonly lines: number;
  readonly layers: number;
  readonly seed: number;
}

/** How many layers back a line may come from. */
const REACH = 3;

/**
 * A random DAG in layers, the same for the same seed: every task waits for one of the layer before it, the other lines come
 * from up to three layers back.
 */
export function layered({ tasks: count, lines: wanted, layers, seed }: LayeredOptions): Plan {
  const random = randomOf(seed);
  const width = Math.ceil(count / layers);
  const tasks = Array.from({ length: count }, (_, index) => `t${index}`);
  const lines = new Map<string, Line>();
  const add = (from: number, to: number): void => void lines.set(`${from}-${to}`, [`t${from}`, `t${to}`]);
  for (let to = width; to < count; to++) {
    const before = (Math.floor(to / width) - 1) * width;
    add(before + Math.floor(random() * width), to);
  }
  const possible = possibleLines(count, width);
  if (wanted < lines.size || wanted > possible) {
    throw new RangeError(`${count} tasks in ${layers} layers take ${lines.size} to ${possible} lines, not ${wanted}`);
  }
  while (lines.size < wanted) {
    const to = width + Math.floor(random() * (count - width));
    const layer = Math.floor(to / width);
    const back = 1 + Math.floor(random() * Math.min(REACH, layer));
    add((layer - back) * width + Math.floor(random() * width), to);
  }
  return { name: `dag-${count}`, tasks, lines: [...lines.values()] };
}

function possibleLines(count: number, width: number): number {
  let possible = 0;
  for (let to = width; to < count; to++) possible += Math.min(REACH, Math.floor(to / width)) * width;
  return possible;
}

/** mulberry32: small, and the same everywhere. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}
