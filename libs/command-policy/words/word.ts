import { ANY, glyphsOf, isStatic, showGlyphs, type Glyphs } from './path-pattern.js';

/** One word of a command as the program would get it, as far as that is known beforehand. */
export interface Word {
  readonly glyphs: Glyphs;
  /** What it says when all of it is known. */
  readonly text: string | undefined;
  /** Begins with an unquoted `~`: a home. */
  readonly home: boolean;
  /** Some of it is known only when it runs, and may be several words. */
  readonly dynamic: boolean;
  /** What is not known stands outside of quotes: it can become several words, and each of them an option. */
  readonly splits?: boolean;
  /** Some of it comes from running a command; a process substitution when it is the name of its pipe. */
  readonly substitution?: 'command' | 'process' | undefined;
  /** Stands for files that are found below a known folder. */
  readonly found?: boolean;
}

export function wordOf(glyphs: Glyphs, more: Partial<Word> = {}): Word {
  const text = isStatic(glyphs) ? showGlyphs(glyphs) : undefined;
  return { glyphs, text, home: false, dynamic: glyphs.includes(ANY), ...more };
}

export const literal = (text: string): Word => wordOf(glyphsOf(text));
export const unknownWord = (substitution?: Word['substitution'], splits = false): Word =>
  wordOf([ANY], { substitution, splits });
export const showWord = (word: Word): string =>
  word.dynamic && word.glyphs.length === 1 ? '…' : showGlyphs(word.glyphs);

const SLASH = 47;

/** The same name with something behind it. Beside a home it lies who knows where: `~` and `.zip` is `/home/anna.zip`. */
export const extended = (word: Word, glyphs: Glyphs): Word =>
  word.home && !word.glyphs.includes(SLASH)
    ? unknownWord()
    : wordOf([...word.glyphs, ...glyphs], {
        home: word.home,
        ...(word.found === true && { found: true, dynamic: false }),
      });

/** Of a word that begins with what is known: the part after it. */
export function after(word: Word, prefix: string): Word | undefined {
  const start = glyphsOf(prefix);
  if (!start.every((glyph, at) => word.glyphs[at] === glyph)) return undefined;
  return wordOf(word.glyphs.slice(start.length), { substitution: word.substitution });
}
