import { patternOf } from '#libs/constellation';
import { withoutTerminalSequences } from '#libs/visible';

/** What is looked for in lines. */
export interface SearchWish {
  /** A regular expression of RE2, which takes time in proportion to the text; or a text, when `fixed` is set. */
  readonly pattern: string;
  readonly fixed?: boolean | undefined;
  readonly ignoreCase?: boolean | undefined;
  /** Lines that are shown before and after one that matches. */
  readonly before?: number | undefined;
  readonly after?: number | undefined;
}

export interface FoundLine {
  /** From 1. */
  readonly line: number;
  readonly text: string;
  readonly match: boolean;
}

/** More lines around a match than anybody reads, and what they cost in memory. */
export const CONTEXT_LINES_MAX = 1_000;

/** Whether a line matches, as a person sees it: without colours. Throws an Error with one sentence when the pattern is none. */
export function matcherOf({ pattern, fixed = false, ignoreCase = false }: SearchWish): (line: string) => boolean {
  if (!fixed) {
    const compiled = patternOf(ignoreCase ? `(?i)${pattern}` : pattern);
    return (line) => compiled.matcher(withoutTerminalSequences(line)).find();
  }
  if (!ignoreCase) return (line) => withoutTerminalSequences(line).includes(pattern);
  const lower = pattern.toLowerCase();
  return (line) => withoutTerminalSequences(line).toLowerCase().includes(lower);
}

/** Looks through the lines of one stream, in order: what matches, with the lines around it, each once. */
export class LineSearch {
  readonly #matches: (line: string) => boolean;
  readonly #before: number;
  readonly #after: number;
  #line = 0;
  #waiting: FoundLine[] = [];
  /** Lines that still belong to the last match. */
  #owed = 0;

  constructor(matches: (line: string) => boolean, { before = 0, after = 0 }: Pick<SearchWish, 'before' | 'after'>) {
    this.#matches = matches;
    this.#before = Math.min(before, CONTEXT_LINES_MAX);
    this.#after = Math.min(after, CONTEXT_LINES_MAX);
  }

  /** What is to be shown now that this line is known. */
  push(text: string): FoundLine[] {
    this.#line += 1;
    const found = { line: this.#line, text, match: this.#matches(text) };
    if (found.match) {
      const shown = [...this.#waiting, found];
      this.#waiting = [];
      this.#owed = this.#after;
      return shown;
    }
    if (this.#owed > 0) {
      this.#owed -= 1;
      return [found];
    }
    this.#waiting.push(found);
    if (this.#waiting.length > this.#before) this.#waiting.shift();
    return [];
  }
}
