// How much two texts are about the same, by the words that they share. Any language that parts its words will do: no list of
// endings, none of little words. The statement of experience-store.adapter.ts computes the same where the rows are.

/** What a word weighs: little words say little, and from some length on a longer word says no more than the ones before. */
export const WEIGHT = { freeChars: 2, least: 0.25, most: 8 } as const;
/** A word of a tip says less about what an example is for than one of its request. */
export const TIP_WEIGHT = 0.5;
/** Below this, texts share their little words and one other by chance. */
export const LIKENESS_MIN = 0.25;
/** Of a long text the longest words are looked for. */
export const WORDS_MAX = 100;

export interface LikenessText {
  readonly request: string;
  readonly tips: readonly string[];
}

/**
 * From 0 for nothing in common to 1 for the same words: the weight of the words in common over the geometric mean of both weights, so
 * that neither a long goal nor a long example is alike to everything. Can exceed 1 by what the tips add.
 */
export function likeness(goal: string, { request, tips }: LikenessText): number {
  const asked = longest(wordsOf(goal));
  const own = wordsOf(request);
  const told = wordsOf(tips.join(' '));
  let shared = 0;
  for (const word of asked) {
    if (own.has(word)) shared += weightOf(word);
    else if (told.has(word)) shared += TIP_WEIGHT * weightOf(word);
  }
  const both = weightOfAll(asked) * weightOfAll(own);
  return both === 0 ? 0 : shared / Math.sqrt(both);
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(
    text
      .toLowerCase()
      .split(/[^\p{L}\p{M}\p{N}]+/u)
      .filter((word) => word !== ''),
  );
}

function longest(words: ReadonlySet<string>): string[] {
  return [...words].toSorted((one, other) => other.length - one.length || (one < other ? -1 : 1)).slice(0, WORDS_MAX);
}

function weightOf(word: string): number {
  const { freeChars, least, most } = WEIGHT;
  return Math.min(Math.max(Array.from(word).length - freeChars, least), most);
}

function weightOfAll(words: Iterable<string>): number {
  let sum = 0;
  for (const word of words) sum += weightOf(word);
  return sum;
}
