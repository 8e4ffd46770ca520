import { type Glyphs, SOME } from '../words/index.js';

/** A word before the shell expanded it. */
export type Element =
  | { readonly glyph: number; readonly quoted: boolean; readonly value?: true }
  /** A variable whose possible values are known. */
  | { readonly values: readonly Glyphs[]; readonly quoted: boolean }
  | { readonly home: true }
  | { readonly empty: true };

const WORDS_MAX = 64;
const [OPEN, CLOSE, COMMA, DOT] = [123, 125, 44, 46];

const is = (element: Element | undefined, glyph: number): boolean =>
  element !== undefined && 'glyph' in element && !element.quoted && element.glyph === glyph;

/** `a{b,c}` is `ab ac`; undefined when it becomes too much. */
export function expandBraces(elements: readonly Element[]): readonly (readonly Element[])[] | undefined {
  const budget = { left: WORDS_MAX };
  return expand(elements, budget);
}

function expand(elements: readonly Element[], budget: { left: number }): readonly (readonly Element[])[] | undefined {
  if (budget.left <= 0) return undefined;
  const group = groupIn(elements);
  if (group === undefined) {
    budget.left -= 1;
    return [elements];
  }
  const { open, close, parts } = group;
  const all: (readonly Element[])[] = [];
  for (const part of parts) {
    const words = expand([...elements.slice(0, open), ...part, ...elements.slice(close + 1)], budget);
    if (words === undefined) return undefined;
    all.push(...words);
  }
  return all;
}

interface Group {
  readonly open: number;
  readonly close: number;
  readonly parts: readonly (readonly Element[])[];
}

function groupIn(elements: readonly Element[]): Group | undefined {
  for (let open = 0; open < elements.length; open++) {
    if (!is(elements[open], OPEN)) continue;
    const group = groupAt(elements, open);
    if (group !== undefined) return group;
  }
  return undefined;
}

function groupAt(elements: readonly Element[], open: number): Group | undefined {
  const commas: number[] = [];
  let [depth, dots] = [0, 0];
  for (let at = open + 1; at < elements.length; at++) {
    if (is(elements[at], OPEN)) depth += 1;
    else if (is(elements[at], CLOSE) && depth > 0) depth -= 1;
    else if (is(elements[at], CLOSE)) {
      if (commas.length > 0) return { open, close: at, parts: slices(elements, [open, ...commas, at]) };
      // A sequence: some short text without a slash.
      return dots > 0 ? { open, close: at, parts: [[{ glyph: SOME, quoted: true }]] } : undefined;
    } else if (depth === 0 && is(elements[at], COMMA)) commas.push(at);
    else if (is(elements[at], DOT) && is(elements[at + 1], DOT)) dots += 1;
  }
  return undefined;
}

const slices = (elements: readonly Element[], bounds: readonly number[]): (readonly Element[])[] =>
  bounds.slice(1).map((bound, at) => elements.slice((bounds[at] ?? 0) + 1, bound));
