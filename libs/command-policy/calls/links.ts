import {
  ANY,
  ANYWHERE,
  canMeet,
  glyphsOf,
  isStatic,
  showGlyphs,
  withoutDots,
  type Glyphs,
  type Start,
} from '../words/index.js';

/** The files of the device that judges, as they are now. A path begins with `/`, with `~` or with `.`, where its commands begin, and can hold `..`. */
export interface Links {
  /** Where commands begin, and what `~` is to them. */
  readonly starts: readonly Start[];
  /** Absolute paths below which commands may write. */
  readonly ofCommands: readonly string[];
  /** Homes from which programs of an unwalled command take their settings. */
  readonly homes: readonly string[];
  /** Where a path leads, links followed as far as there is something; undefined where it leads to itself. */
  real(path: string): string | undefined;
  /** What lies below a folder, nearest first, as far as it is looked through. */
  below(folder: string): Below;
  /** What lies in a folder; undefined when that is too much to look at. */
  names(folder: string): readonly string[] | undefined;
}

export interface Below {
  /** Names of files from the folder on, without a leading slash; of those behind a link, where they lie. */
  readonly files: readonly string[];
  /** Where links lead. */
  readonly targets: readonly string[];
}

/**
 * Who knows where paths lead. `later`: the device looks before it runs the command. `nobody`: another system runs it, and only what
 * is written can be judged.
 */
export type FilesKnown = Links | 'later' | 'nobody';

const SLASH = 47;
const PATHS_MAX = 2_000;

/**
 * What a path, or all files that a pattern stands for, really are on this device, beside what is written. Of what lies anywhere below a
 * folder, that folder is led.
 */
export function led(path: Glyphs, links: Links): readonly Glyphs[] {
  const [start = [], ...parts] = partsOf(path);
  const unknown = parts.findIndex((part) => part.includes(ANY));
  const known = unknown < 0 ? parts : parts.slice(0, unknown);
  const below = parts.slice(known.length).flatMap((part) => [SLASH, ...part]);
  const files = named(start, known, { links, left: PATHS_MAX });
  if (files === undefined) return [ANYWHERE];
  return files.flatMap((file) => {
    const real = links.real(showGlyphs(file) || '/');
    const own = known.every(isStatic) ? [] : [file];
    const led = real === undefined ? own : [...own, real === '/' ? [] : glyphsOf(real)];
    return led.map((one) => (below.length === 0 && one.length === 0 ? [SLASH] : [...one, ...below]));
  });
}

function partsOf(path: Glyphs): readonly Glyphs[] {
  const parts: number[][] = [[]];
  for (const glyph of path) {
    if (glyph === SLASH) parts.push([]);
    else parts.at(-1)?.push(glyph);
  }
  return parts;
}

interface Looking {
  readonly links: Links;
  left: number;
}

/** Undefined: more than can be looked at. */
function named(folder: Glyphs, [part, ...rest]: readonly Glyphs[], looking: Looking): readonly Glyphs[] | undefined {
  if (part === undefined) return [folder];
  if (isStatic(part)) return named([...folder, SLASH, ...part], rest, looking);
  const names = looking.links.names(showGlyphs(folder) || '/');
  const ways = withoutDots(part);
  const found: Glyphs[] = [];
  for (const name of names ?? []) {
    const glyphs = glyphsOf(name);
    if (!ways.some((way) => canMeet(way, glyphs))) continue;
    looking.left -= 1;
    const below = looking.left < 0 ? undefined : named([...folder, SLASH, ...glyphs], rest, looking);
    if (below === undefined) return undefined;
    found.push(...below);
  }
  return names === undefined ? undefined : found;
}
