import { ANY, isStatic, showGlyphs, type Glyphs } from './path-pattern.js';
import { ANYWHERE } from './scope.js';
import type { WorkingPlaces } from './invocation.js';
import type { Word } from './word.js';

const [SLASH, DOT, TILDE] = [47, 46, 126];

/**
 * The files that a word can name: from every place where the command can stand, without `.`, `..`, doubled slashes and the ways
 * back to the root that /proc offers. A path begins with `/`, with `~` (a home) or with `.` (the device's own directory). Links
 * are not followed: what is on the device is not known here.
 */
export function resolvePath(word: Word, places: WorkingPlaces): readonly Glyphs[] {
  const parts = partsOf(word.glyphs);
  // Something unknown can hold slashes and `..`: it can be anything.
  if (word.dynamic && word.found !== true) return [[ANY]];
  if (word.home) return walk([[TILDE]], parts.slice(1));
  if (word.glyphs[0] === SLASH) return walk([[]], parts);
  return places.flatMap((place) => {
    const [start = [], ...way] = partsOf(place);
    return walk([start], [...way, ...parts]);
  });
}

/** The same as they are written: where a link is left by `..`, only the device knows. */
export function spelled(word: Word, places: WorkingPlaces): readonly Glyphs[] {
  if (word.home || word.glyphs[0] === SLASH) return [word.glyphs];
  return places.map((place) => [...place, SLASH, ...word.glyphs]);
}

/**
 * Where somebody stands who goes to a folder. What a shell takes `..` behind a link for depends on the shell, on `-P`, and on whether there
 * is such a folder: where the words lead, and where the kernel goes.
 */
export function placesAt(folder: Word, places: WorkingPlaces): WorkingPlaces {
  const written = resolvePath(folder, places);
  return showGlyphs(folder.glyphs).split('/').includes('..') ? [...written, ...spelled(folder, places)] : written;
}

function partsOf(glyphs: Glyphs): Glyphs[] {
  const parts: number[][] = [[]];
  for (const glyph of glyphs) {
    if (glyph === SLASH) parts.push([]);
    else parts.at(-1)?.push(glyph);
  }
  return parts;
}

function walk(starts: readonly Glyphs[], parts: readonly Glyphs[]): readonly Glyphs[] {
  let heads = starts;
  for (const part of parts) {
    const text = isStatic(part) ? showGlyphs(part) : undefined;
    if (text === '' || text === '.') continue;
    if (text === '..') heads = heads.flatMap(parentsOf);
    // A pattern that begins with a dot can also mean `..`.
    else if (text === undefined && part[0] === DOT) heads = [ANYWHERE];
    else heads = heads.map((head) => throughProc([...head, SLASH, ...part]));
  }
  return heads.map((head) => (head.length === 0 ? [SLASH] : head));
}

function parentsOf(head: Glyphs): readonly Glyphs[] {
  if (head.length === 0) return [head];
  // A home can lie anywhere, also that of whom commands run as.
  if (head.length === 1 || head.includes(ANY)) return [ANYWHERE];
  return [head.slice(0, head.lastIndexOf(SLASH))];
}

const BACK = /^\/proc\/[^/]+(?:\/task\/[^/]+)?\/(?:root|cwd)$/u;

/** `/proc/self/root` is the root; `/proc/self/cwd` is somewhere. */
function throughProc(head: Glyphs): Glyphs {
  if (head[1] !== 112) return head;
  const text = showGlyphs(head);
  if (!BACK.test(text)) return head;
  return text.endsWith('/cwd') ? ANYWHERE : [];
}
