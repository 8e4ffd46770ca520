/**
 * Text with places that are not known: each element is the code of a character, or one of the three below. Both what a command
 * names (`/etc/sh*`) and what a policy lists (`** /.env`) are such texts, and the question is always whether they can meet.
 */
export type Glyphs = readonly number[];

/** One character within a name. */
export const ONE = -1;
/** Any characters within a name. */
export const SOME = -2;
/** Any characters across folders. */
export const ANY = -3;
/** A number. */
export const DIGITS = -5;
/** A letter or a figure. */
export const LETTER = -6;
/** One character at the beginning of a name that is no dot. */
const FIRST = -4;

/** Stands in no name that a policy lists. */
const FILLER = 0xff_ff;

const SLASH = 47;
const STAR = 42;
const DOT = 46;

export const glyphsOf = (text: string): number[] => Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));

/** A pattern of a policy: `**` across folders, `*` and `?` within a name. A leading `** /` also stands for nothing. */
export function patternGlyphs(pattern: string): number[] {
  const glyphs: number[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern.charCodeAt(at);
    if (char === STAR && pattern.charCodeAt(at + 1) === STAR) {
      glyphs.push(ANY);
      at += 1;
    } else glyphs.push(char === STAR ? SOME : char === 63 ? ONE : char);
  }
  return glyphs;
}

const SHOWN: ReadonlyMap<number, string> = new Map([
  [SOME, '*'],
  [ANY, '**'],
  [DIGITS, '*'],
]);

export const isStatic = (glyphs: Glyphs): boolean => glyphs.every((glyph) => glyph >= 0);

export const showGlyphs = (glyphs: Glyphs): string =>
  glyphs.map((glyph) => (glyph >= 0 ? String.fromCharCode(glyph) : (SHOWN.get(glyph) ?? '?'))).join('');

/** Whether some text is both an `a` and a `b`. Most that cannot meet differ in a character that both begin or end with. */
export function canMeet(a: Glyphs, b: Glyphs): boolean {
  let [from, aEnd, bEnd] = [0, a.length, b.length];
  for (; from < aEnd && from < bEnd; from++) {
    const [x = 0, y = 0] = [a[from], b[from]];
    if (x < 0 || y < 0) break;
    if (x !== y) return false;
  }
  for (; aEnd > from && bEnd > from; aEnd--, bEnd--) {
    const [x = 0, y = 0] = [a[aEnd - 1], b[bEnd - 1]];
    if (x < 0 || y < 0) break;
    if (x !== y) return false;
  }
  return canMeetWithin(a.slice(from, aEnd), b.slice(from, bEnd));
}

/** The same by every way through both. */
function canMeetWithin(a: Glyphs, b: Glyphs): boolean {
  const width = b.length + 1;
  const seen = new Uint8Array((a.length + 1) * width);
  const stack: number[] = [0];
  for (let state = stack.pop(); state !== undefined; state = stack.pop()) {
    if (seen[state] === 1) continue;
    seen[state] = 1;
    const [x, y] = [a[Math.floor(state / width)], b[state % width]];
    if (x === undefined && y === undefined) return true;
    const [xRuns, yRuns] = [isRun(x), isRun(y)];
    // A run may end at any time without taking anything.
    if (xRuns) stack.push(state + width);
    if (yRuns) stack.push(state + 1);
    if (x === undefined || y === undefined || !shares(x, y) || !shares(y, x)) continue;
    // One side takes what the other one gives.
    stack.push(state + (xRuns ? 0 : width) + (yRuns ? 0 : 1));
  }
  return false;
}

const isRun = (glyph: number | undefined): boolean => glyph === SOME || glyph === ANY || glyph === DIGITS;

const isFigure = (x: number): boolean => x >= 48 && x <= 57;

/** Whether `x` can be the one character that `y` stands for, as far as `x` is a character. */
function shares(x: number, y: number): boolean {
  if (x < 0) return true;
  if (y >= 0) return x === y;
  if (y === DIGITS) return x === 45 || isFigure(x);
  if (y === LETTER) return isFigure(x) || (x >= 97 && x <= 122);
  return y === ANY || (x !== SLASH && (y !== FIRST || x !== DOT));
}

/** A shell's `*` at the beginning of a name does not stand for a dot: what it then stands for, each way by itself. */
export function withoutDots(path: Glyphs): readonly Glyphs[] {
  let ways: number[][] = [[]];
  for (const [at, glyph] of path.entries()) {
    const isFirst = at === 0 || path[at - 1] === SLASH;
    if (isFirst && glyph === SOME && ways.length < 8) ways = ways.flatMap((way) => [way, [...way, FIRST, SOME]]);
    else for (const way of ways) way.push(isFirst && glyph === ONE ? FIRST : glyph);
  }
  return ways;
}

export interface PathSet {
  /** The pattern that a path can meet. */
  find(path: Glyphs): string | undefined;
  /**
   * The same for a pattern whose files are looked at where they lie: of places that can be anywhere only those count that what is
   * written of it names.
   */
  findNamed(path: Glyphs): string | undefined;
  /** The same for what a search finds: places that can be anywhere count only when they name the file itself. */
  findAmong(path: Glyphs): string | undefined;
  /** Whether everything that the path can be lies in the set. */
  covers(path: Glyphs): boolean;
  /** A listed place that can lie below a folder. */
  below(folder: Glyphs): string | undefined;
}

interface Compiled {
  readonly pattern: string;
  readonly glyphs: Glyphs;
}

/** Where a home can be: what a policy says of `~` holds for all of them. */
const HOMES = ['~/', '/root/', '/home/*/'];

const none = (): readonly string[] => [];
const spellings = (pattern: string): string[] =>
  pattern.startsWith('~/') ? HOMES.map((home) => `${home}${pattern.slice(2)}`) : [pattern];

/** `more`: what a pattern is called besides. */
export function pathSet(patterns: readonly string[], more: (pattern: string) => readonly string[] = none): PathSet {
  const compiled: readonly Compiled[] = patterns.flatMap((pattern) =>
    [...spellings(pattern), ...more(pattern)].map((spelling) => ({ pattern, glyphs: patternGlyphs(spelling) })),
  );
  const quick = new RegExp(`^(?:${compiled.map(({ glyphs }) => regexOf(glyphs)).join('|')})$`, 'su');
  const meets = (path: Glyphs) => {
    const ways = withoutDots(path);
    return compiled.find(({ glyphs }) => ways.some((way) => canMeet(way, glyphs)))?.pattern;
  };
  const memory = new Map<string, string | undefined>();
  return {
    find(path) {
      if (compiled.length === 0) return undefined;
      if (isStatic(path)) return quick.test(showGlyphs(path)) ? meets(path) : undefined;
      return remembered(memory, showGlyphs(path), () => meets(path));
    },
    findNamed(path) {
      const filled = path.map((glyph) => (glyph < 0 && glyph !== ANY ? FILLER : glyph));
      return remembered(memory, `named ${showGlyphs(path)}`, () => {
        const ways = withoutDots(path);
        return compiled.find(({ glyphs }) =>
          glyphs[0] === ANY ? canMeet(filled, glyphs) : ways.some((way) => canMeet(way, glyphs)),
        )?.pattern;
      });
    },
    findAmong(path) {
      return remembered(
        memory,
        `among ${showGlyphs(path)}`,
        () =>
          compiled.find(({ glyphs }) => !(glyphs[0] === ANY && glyphs.at(-1) === ANY) && canMeet(path, glyphs))
            ?.pattern,
      );
    },
    covers(path) {
      if (compiled.length === 0 || path.includes(ANY)) return false;
      return quick.test(showGlyphs(path.map((glyph) => (glyph < 0 ? 120 : glyph))));
    },
    below(folder) {
      // Places that are named by their end only (`** /.env`) can be anywhere: they say nothing about a folder.
      const inside = [...(showGlyphs(folder) === '/' ? [] : folder), SLASH, ANY];
      return remembered(
        memory,
        `below ${showGlyphs(inside)}`,
        () => compiled.find(({ glyphs }) => glyphs[0] !== ANY && canMeet(inside, glyphs))?.pattern,
      );
    },
  };
}

const MEMORY_MAX = 2_000;

function remembered(memory: Map<string, string | undefined>, key: string, make: () => string | undefined) {
  if (memory.has(key)) return memory.get(key);
  const made = make();
  if (memory.size >= MEMORY_MAX) memory.clear();
  memory.set(key, made);
  return made;
}

function regexOf(glyphs: Glyphs): string {
  return glyphs
    .map((glyph) => {
      if (glyph === ONE) return '[^/]';
      if (glyph === SOME) return '[^/]*';
      if (glyph === ANY) return '.*';
      return String.fromCharCode(glyph).replace(/[\\^$.*+?()[\]{}|/]/u, String.raw`\$&`);
    })
    .join('');
}
