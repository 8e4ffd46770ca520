import type { FoundText } from '#proto';
import { hitsOf, type Alternative, type Hit, type Term } from './search-words.js';
import type { SearchedText } from './texts.js';
import { wordsIn, type TextWord } from './words.js';

/** How much of a text is shown around what was found in it. */
const SHOWN_UNITS = 240;
const BEFORE_UNITS = 80;

interface ReadText extends SearchedText {
  readonly words: readonly TextWord[];
}

/**
 * The part of the texts that shows best why they are found; undefined when they are not: words are there, for example, but not one behind
 * the other, which the index cannot tell.
 */
export function foundIn(texts: readonly SearchedText[], alternatives: readonly Alternative[]): FoundText | undefined {
  const read = texts.map((text) => ({ ...text, words: wordsIn(text.text) }));
  const isThere = (term: Term): boolean => read.some(({ text, words }) => hitsOf(term, text, words).length > 0);
  const holds = alternatives.filter(({ wanted, unwanted }) => wanted.every(isThere) && !unwanted.some(isThere));
  const [first] = read;
  if (holds.length === 0 || first === undefined) return undefined;
  const terms = holds.flatMap(({ wanted }) => wanted);
  return bestOf(read, terms) ?? { of: first.of, text: wellFormed(first.text.slice(0, SHOWN_UNITS)), marks: [] };
}

/** A hit, and of which term it is one. */
interface TermHit extends Hit {
  readonly term: number;
}

/** Of the text with the most of the terms, where most of them are near to each other. */
function bestOf(read: readonly ReadText[], terms: readonly Term[]): FoundText | undefined {
  let best: { readonly found: ReadText; readonly hits: readonly TermHit[]; readonly terms: number } | undefined;
  for (const found of read) {
    const hits = terms.flatMap((one, term) => hitsOf(one, found.text, found.words).map((hit) => ({ ...hit, term })));
    const count = new Set(hits.map(({ term }) => term)).size;
    if (count > (best?.terms ?? 0)) best = { found, hits: hits.toSorted(inOrder), terms: count };
  }
  return best && shown(best.found, best.hits);
}

const inOrder = (left: Hit, right: Hit): number => left.from - right.from || right.to - left.to;

function shown({ of, text }: SearchedText, hits: readonly TermHit[]): FoundText {
  const first = densest(hits).from;
  // The line that it stands on, as far as there is room for it.
  const line = first === 0 ? 0 : text.lastIndexOf('\n', first - 1) + 1;
  const from = whole(text, Math.max(line, first - BEFORE_UNITS));
  const to = whole(text, Math.min(text.length, from + SHOWN_UNITS));
  const marks = joined(hits.filter((hit) => hit.from >= from && hit.from < to)).map((hit) => ({
    from: hit.from - from,
    to: Math.min(hit.to, to) - from,
  }));
  return { of, text: wellFormed(text.slice(from, to)), marks };
}

/** The hit behind which most terms are shown with it, and of several the one that has them nearest. */
function densest(hits: readonly TermHit[]): Hit {
  let best: { readonly hit: Hit; readonly terms: number; readonly units: number } | undefined;
  for (const [at, hit] of hits.entries()) {
    const near = new Set<number>();
    let units = 0;
    for (const { to, term } of hits.slice(at, at + SHOWN_UNITS)) {
      if (to > hit.from + SHOWN_UNITS - BEFORE_UNITS) break;
      if (!near.has(term)) units = to - hit.from;
      near.add(term);
    }
    const isNearer = near.size === best?.terms && units < best.units;
    if (near.size > (best?.terms ?? -1) || isNearer) best = { hit, terms: near.size, units };
  }
  return best?.hit ?? { from: 0, to: 0 };
}

/** What overlaps is one. */
function joined(hits: readonly Hit[]): Hit[] {
  const joinedHits: Hit[] = [];
  for (const hit of hits) {
    const last = joinedHits.at(-1);
    if (last === undefined || hit.from >= last.to) joinedHits.push(hit);
    else joinedHits.splice(-1, 1, { from: last.from, to: Math.max(last.to, hit.to) });
  }
  return joinedHits;
}

/** Not in the middle of a character. */
function whole(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff && at > 0 ? at - 1 : at;
}

/** A half of a character is no JSON that everybody reads; its place stays, for the marks count units. */
const wellFormed = (text: string): string => text.toWellFormed();
