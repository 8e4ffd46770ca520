import type { Memory, MemoryItem } from '../memory/index.js';
import { countPieces, type CountTokens, type Fence } from '#libs/prompter';
import { stepLine, type LineBounds } from './memory-line.js';
import { stepPieces, type Piece } from './memory-step.js';

/** How much is told of a step, from nothing but its number to everything. */
export const TIERS = ['number', 'note', 'notes', 'shortest', 'short', 'line', 'condensed', 'full'] as const;
export type Tier = (typeof TIERS)[number];

/** Below this not even the last step can be told. */
export const MEMORY_TOKENS_MIN = 500;

export interface MemoryText {
  /** All steps but the last one; empty when there are none. */
  readonly history: string;
  /** The step that was taken last. */
  readonly last: string;
}

/**
 * The whole history of an agent within a number of tokens. The last step is shown in full, older ones in less and less: with
 * the head and tail of their outputs, in one line with their short outputs, with their notes only. Notes stay longest. An older
 * step is never told in more detail than a newer one, and what is left out says so.
 *
 * What is made of a step is kept as long as the step itself, so that a turn costs what is new in it.
 */
export class MemoryPrompt {
  readonly #known = new WeakMap<MemoryItem, Map<Tier, Rendered>>();

  readonly #countTokens: CountTokens;
  readonly #tokensMax: number;

  constructor(countTokens: CountTokens, tokensMax: number) {
    this.#countTokens = countTokens;
    this.#tokensMax = tokensMax;

    if (tokensMax < MEMORY_TOKENS_MIN) {
      throw new RangeError(`memoryTokens is ${tokensMax}; a memory needs at least ${MEMORY_TOKENS_MIN}`);
    }
  }

  /** Never more than the tokens it was given, the lines of the fences included. */
  render({ items }: Memory, fence: Fence): MemoryText {
    const last = items.at(-1);
    if (last === undefined) return { history: '', last: '' };
    return this.#compose(items, this.#plan(items, fence), fence);
  }

  /** What is told of each step. */
  tiers({ items }: Memory, fence: Fence): readonly Tier[] {
    return this.#plan(items, fence);
  }

  #plan(items: readonly MemoryItem[], fence: Fence): Tier[] {
    const fenceTokens = this.#countTokens(fence.around('step', '\0')) + 4;
    const tiers = items.map((): Tier => 'number');
    let left = Math.floor(this.#tokensMax * (1 - MARGIN)) - OVERHEAD_TOKENS - 2 * fenceTokens;
    const cost = (index: number, tier: Tier): number => {
      const { tokens, fences } = this.#rendered(items[index], tier);
      return tokens + fences * fenceTokens;
    };
    /** From the newest to older ones, as far as it fits: nobody gets more than who comes after him. */
    const raise = (tier: Tier, oldest: number): void => {
      for (let index = items.length - 1; index >= oldest; index--) {
        const present = tiers[index] ?? 'number';
        if (TIERS.indexOf(present) >= TIERS.indexOf(tier)) continue;
        const more = cost(index, tier) - cost(index, present);
        if (more > left) return;
        left -= more;
        tiers[index] = tier;
      }
    };
    const newest = items.length - 1;
    // Notes of all steps come first, then the last step, then every step in a line, then more of the newest ones.
    raise('note', 0);
    raise('condensed', newest);
    raise('notes', 0);
    raise('full', newest);
    raise('shortest', 0);
    raise('short', 0);
    raise('condensed', Math.max(0, newest - RECENT + 1));
    raise('line', 0);
    raise('condensed', 0);
    raise('full', 0);
    return tiers;
  }

  #compose(items: readonly MemoryItem[], tiers: readonly Tier[], fence: Fence): MemoryText {
    const pieces = (from: number, to: number): string => {
      const shown: Piece[] = [];
      const lines: string[] = [];
      for (let index = from; index < to; index++) {
        const { pieces, line } = this.#rendered(items[index], tiers[index] ?? 'number');
        if (line === null) shown.push(...pieces);
        else if (line !== '') lines.push(line);
      }
      const inLines: Piece[] =
        lines.length > 0 ? [{ own: LINES }, { label: 'steps in short', data: lines.join('\n') }] : [];
      return [...numbersOnly(items.slice(from, to), tiers.slice(from, to)), ...inLines, ...shown]
        .map((piece) => ('own' in piece ? piece.own : fence.around(piece.label, piece.data)))
        .join('\n');
    };
    return { history: pieces(0, items.length - 1), last: pieces(items.length - 1, items.length) };
  }

  #rendered(item: MemoryItem | undefined, tier: Tier): Rendered {
    if (item === undefined || tier === 'number') return NOTHING;
    const known = this.#known.get(item) ?? new Map<Tier, Rendered>();
    this.#known.set(item, known);
    const found = known.get(tier) ?? this.#make(item, tier);
    known.set(tier, found);
    return found;
  }

  #make(item: MemoryItem, tier: Exclude<Tier, 'number'>): Rendered {
    if (tier === 'condensed' || tier === 'full') {
      const isFull = tier === 'full';
      const pieces = stepPieces(item, {
        countTokens: this.#countTokens,
        outputTokens: Math.floor(this.#tokensMax * (isFull ? FULL_SHARE : CONDENSED_SHARE)),
        saidChars: isFull ? 2_000 : 240,
        noteChars: NOTE_CHARS,
      });
      const fences = pieces.filter((piece) => 'label' in piece).length;
      return { pieces, line: null, tokens: pieces.reduce((sum, piece) => sum + this.#tokensOf(piece), 0), fences };
    }
    const line = tier === 'note' || tier === 'notes' ? notesLine(item, tier) : stepLine(item, LINE_BOUNDS[tier]);
    return { pieces: [], line, tokens: this.#count(line) + 1, fences: 0 };
  }

  /** Without its fence; one more for the line end. */
  #tokensOf(piece: Piece): number {
    if ('own' in piece) return this.#count(piece.own) + 1;
    return this.#count(piece.label) + (piece.tokens ?? this.#count(piece.data)) + 1;
  }

  #count(text: string): number {
    return countPieces(this.#countTokens, text);
  }
}

interface Rendered {
  readonly pieces: readonly Piece[];
  /** A line of JSON; null for a step that is shown in pieces. */
  readonly line: string | null;
  readonly tokens: number;
  readonly fences: number;
}

const NOTHING: Rendered = { pieces: [], line: '', tokens: 0, fences: 0 };

/** Counts of parts add up to a little more than the count of the whole, mostly: this is for when they do not. */
const MARGIN = 0.01;
/** What stands between the steps: titles, ranges. */
const OVERHEAD_TOKENS = 150;
/** Newest steps that keep the heads and tails of their outputs, even when older ones are told in less than a line. */
const RECENT = 3;
const FULL_SHARE = 0.4;
const CONDENSED_SHARE = 0.03;
const NOTE_CHARS = 500;

const LINE_BOUNDS: Readonly<Record<'shortest' | 'short' | 'line', LineBounds>> = {
  line: { commandChars: 160, wholeChars: 400, edgeChars: 80, thoughtChars: 80, noteChars: NOTE_CHARS },
  short: { commandChars: 80, wholeChars: 240, edgeChars: 0, thoughtChars: 0, noteChars: NOTE_CHARS },
  shortest: { commandChars: 40, wholeChars: 80, edgeChars: 0, thoughtChars: 0, noteChars: NOTE_CHARS },
};

const LINES =
  '[Earlier steps in short, one line of JSON each; the output of any of them can be read again with READ_OUTPUT]';

function notesLine({ step, notes }: MemoryItem, tier: 'note' | 'notes'): string {
  if (notes.length === 0) return JSON.stringify({ step });
  const chars = tier === 'note' ? 60 : NOTE_CHARS;
  return JSON.stringify({
    step,
    notes: notes.map((note) => (note.length <= chars ? note : `${note.slice(0, chars).toWellFormed()}...`)),
  });
}

/** Says which steps are not told at all; they are the oldest ones. */
function numbersOnly(items: readonly MemoryItem[], tiers: readonly Tier[]): Piece[] {
  const untold = items.filter((_, index) => tiers[index] === 'number');
  const [first, last] = [untold.at(0), untold.at(-1)];
  if (first === undefined || last === undefined) return [];
  const notes = untold.reduce((sum, { notes }) => sum + notes.length, 0);
  const [which, whose] =
    first === last ? [`Step ${first.step} is`, 'it'] : [`Steps ${first.step} to ${last.step} are`, 'them'];
  return [{ own: `[${which} not shown here, nor ${notes} notes of ${whose}; READ_OUTPUT reads the outputs again]` }];
}
