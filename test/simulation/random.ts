/** Looked up once: in a test's own context every look-up of a global costs more than the multiplication. */
const { floor, imul } = Math;

/** Dice of one part of a simulation: the same seed and the same names give the same throws, whatever other parts throw. */
export class Dice {
  #state: number;

  constructor(seed: number, ...names: readonly (string | number)[]) {
    this.#state = hashOf(seed, ...names);
  }

  /** From 0 up to, not including, 1. Mulberry32: small, good enough, the same everywhere. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    return scrambled(this.#state);
  }

  /** A whole number from `least` to `most`, both included. */
  int(least: number, most: number): number {
    return least + floor(this.next() * (most - least + 1));
  }

  between(least: number, most: number): number {
    return least + this.next() * (most - least);
  }

  /** From `least` to `most`, small values far more often: each order of magnitude is as likely as the next. */
  spread(least: number, most: number): number {
    return least * (most / least) ** this.next();
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(from: readonly T[]): T {
    const picked = from[this.int(0, from.length - 1)];
    if (picked === undefined) throw new RangeError('nothing to pick from');
    return picked;
  }

  /** Each with the probability, in order. */
  some<T>(from: readonly T[], probability: number): T[] {
    return from.filter(() => this.chance(probability));
  }
}

/** One throw that depends on its names only: removing other throws does not change it. */
export function throwOf(seed: number, ...names: readonly (string | number)[]): number {
  return scrambled(hashOf(seed, ...names));
}

/** FNV-1a over the names, started from the seed. */
export function hashOf(seed: number, ...names: readonly (string | number)[]): number {
  let hash = (0x811c9dc5 ^ imul(seed, 0x9e3779b1)) >>> 0;
  for (const name of names) hash = hashOfText(String(name), hash);
  return hash;
}

export function hashOfText(text: string, start = 0x811c9dc5): number {
  let hash = start;
  for (let index = 0; index < text.length; index++) hash = imul(hash ^ text.charCodeAt(index), 0x01000193);
  return imul(hash ^ 0x2f, 0x01000193) >>> 0;
}

function scrambled(state: number): number {
  let mixed = imul(state ^ (state >>> 15), state | 1);
  mixed ^= mixed + imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
}
