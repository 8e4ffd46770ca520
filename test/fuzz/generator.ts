import { AIP_LIMITS } from '#proto';
import type { Dice } from '../simulation/random.js';
import { binaryOf, type Binary } from './binary.js';
import { isTree, type Corpus, type Tree } from './corpus.js';
import { mutate } from './mutate.js';
import { BREAKERS } from './raw.js';

/** One frame of a case. */
export interface FuzzFrame {
  readonly kind: 'frame';
  /** Null: nothing but three bytes. `"@seq"` and `"@ack"` stand for the numbers that a good peer would give it at that moment. */
  readonly text: string | null;
  /** The frame is binary, and the text is its head. */
  readonly binary?: Binary;
  /** `structure`: a good frame with some of its values changed. */
  readonly made: 'structure' | 'bytes';
  /** Sent even to a session that is over. */
  readonly afterEnd: boolean;
  /** Sent to a new session when this one has left the stage. */
  readonly fresh: boolean;
}

export const SEQ = '"@seq"';
export const ACK = '"@ack"';

const STRUCTURE = 0.72;
const AFTER_END = 0.08;
const FRESH = 0.3;
/** Frames that a good peer sends at this stage come more often: what is refused at once reaches nothing. */
const FITTING = 0.55;
const UNTOUCHED = 0.06;
/** Of frames with numbers: pieces of files, and now and then something else, as binary frames. */
const BINARY = 0.08;
const PIECE = 0.85;

export interface Recipe {
  readonly sender: 'device' | 'constellation' | 'server';
  /** Types of frames that have a meaning at the stage. */
  readonly fitting: readonly string[];
  /** Whether frames are numbered there. */
  readonly numbered: boolean;
}

/** Makes frames out of the corpus; the same dice give the same frames. */
export class Generator {
  readonly #corpus: Corpus;
  readonly #byType = new Map<Recipe['sender'], ReadonlyMap<string, readonly Tree[]>>();

  constructor(corpus: Corpus) {
    this.#corpus = corpus;
    for (const sender of ['device', 'constellation', 'server'] as const) {
      this.#byType.set(
        sender,
        Map.groupBy(corpus[sender], ({ type }) => (typeof type === 'string' ? type : '')),
      );
    }
  }

  frame(recipe: Recipe, dice: Dice): FuzzFrame {
    if (recipe.numbered && dice.chance(BINARY)) return this.#binary(recipe, dice);
    const tree = structuredClone(this.#seed(recipe, dice));
    const made = dice.chance(STRUCTURE) ? 'structure' : 'bytes';
    if (made === 'structure' && !dice.chance(UNTOUCHED)) mutate(tree, dice, this.#seed(recipe, dice));
    number(tree, recipe, dice);
    const good = JSON.stringify(tree);
    const whole = made === 'structure' ? good : dice.pick(BREAKERS)(good, dice);
    // No socket lets more through.
    const text = whole?.slice(0, AIP_LIMITS.foreignFrameBytesMax) ?? null;
    return { kind: 'frame', text, made, afterEnd: dice.chance(AFTER_END), fresh: dice.chance(FRESH) };
  }

  #binary(recipe: Recipe, dice: Dice): FuzzFrame {
    const pieces = dice.chance(PIECE) ? this.#byType.get(recipe.sender)?.get('file_chunk') : undefined;
    const tree = structuredClone(pieces === undefined ? this.#seed(recipe, dice) : dice.pick(pieces));
    const piece = tree['orrery'];
    if (isTree(piece) && dice.chance(PIECE)) piece['data'] = '';
    if (!dice.chance(FITTING)) mutate(tree, dice, this.#seed(recipe, dice));
    number(tree, recipe, dice);
    const binary = binaryOf(dice);
    const made = binary.lengthBy === 0 && binary.lost === 0 ? 'structure' : 'bytes';
    const text = JSON.stringify(tree);
    return { kind: 'frame', text, binary, made, afterEnd: dice.chance(AFTER_END), fresh: dice.chance(FRESH) };
  }

  #seed({ sender, fitting }: Recipe, dice: Dice): Tree {
    const byType = this.#byType.get(sender);
    if (fitting.length > 0 && dice.chance(FITTING)) {
      const known = byType?.get(dice.pick(fitting)) ?? [];
      if (known.length > 0) return dice.pick(known);
    }
    // Now and then something that another kind of peer says.
    const pool = dice.chance(0.9)
      ? this.#corpus[sender]
      : dice.pick([this.#corpus.device, this.#corpus.constellation, this.#corpus.server]);
    return dice.pick(pool);
  }
}

function number(tree: Tree, { numbered }: Recipe, dice: Dice): void {
  if (!numbered) {
    if (dice.chance(0.95)) {
      Reflect.deleteProperty(tree, 'seq');
      Reflect.deleteProperty(tree, 'ack');
    }
    return;
  }
  if (dice.chance(0.97)) tree['seq'] = '@seq';
  if (dice.chance(0.97)) tree['ack'] = '@ack';
}
