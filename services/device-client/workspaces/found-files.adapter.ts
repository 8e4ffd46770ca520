import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  FilePath,
  filePatternOf,
  FILE_ENDS,
  isPlainPath,
  LIMITS,
  matchesGlob,
  mayHoldMatches,
  NO_FILE_PATH,
  type FilePattern,
} from '#proto';
import type { OpenDirectory } from '../files/index.js';
import { FileProblem, missing, named, refusedFile, tooMany } from './file-problem.js';
import { isNoDirectory, openDirectory } from './open-beneath.adapter.js';

export interface FoundFiles {
  /** Paths of regular files, each once, in their order. */
  readonly paths: readonly string[];
  /** Links, pipes and devices that a glob would mean. */
  readonly skipped: number;
}

/** Names that are looked at: a glob over more is a mistake, and would keep the device busy. */
const NAMES_MAX = 100_000;

interface Wanted {
  readonly pattern: string;
  readonly glob: string;
  readonly isOptional: boolean;
  /** Directories that the pattern says outright. */
  readonly outright: readonly string[];
  found: number;
}

/** What a workspace has for these patterns. Follows no link. Throws FileProblem. */
export async function foundFiles(
  workspace: string,
  patterns: readonly FilePattern[],
  signal: AbortSignal,
): Promise<FoundFiles> {
  const search = new Search(patterns, signal);
  const root = await openDirectory(workspace);
  try {
    await search.look(root, []);
  } finally {
    await root.close();
  }
  return search.ended();
}

class Search {
  readonly #wanted: readonly Wanted[];
  readonly #signal: AbortSignal;
  readonly #paths: string[] = [];
  #names = 0;
  #skipped = 0;

  constructor(patterns: readonly FilePattern[], signal: AbortSignal) {
    this.#wanted = patterns.map(wantedBy);
    this.#signal = signal;
  }

  ended(): FoundFiles {
    const none = this.#wanted.find(({ isOptional, found }) => !isOptional && found === 0);
    if (none !== undefined) throw missing(none.pattern);
    return { paths: this.#paths.toSorted(), skipped: this.#skipped };
  }

  async look(directory: OpenDirectory, above: readonly string[]): Promise<void> {
    for (const entry of await readdir(directory.child('.'), { withFileTypes: true })) {
      this.#signal.throwIfAborted();
      if (++this.#names > NAMES_MAX) {
        throw new FileProblem(FILE_ENDS.tooMany, `there are more than ${NAMES_MAX} names to look at: say directories`);
      }
      const names = [...above, entry.name];
      const path = names.join('/');
      if (entry.isDirectory()) await this.#enter(directory, names);
      else if (entry.isFile()) this.#take(path);
      else this.#passBy(path, entry);
    }
  }

  async #enter(parent: OpenDirectory, names: readonly string[]): Promise<void> {
    const [path, name] = [names.join('/'), names.at(-1) ?? ''];
    const outright = this.#wanted.find(({ glob }) => glob === path);
    if (outright !== undefined) throw refusedFile(path, `is a directory: ${named(`${path}/**`)} means what is in it`);
    if (!this.#wanted.some(({ glob }) => mayHoldMatches(path, glob))) return;
    if (names.length > LIMITS.fileDirectoriesMax) {
      throw refusedFile(path, `is deeper than ${LIMITS.fileDirectoriesMax} directories`);
    }
    const child = await openDirectory(parent.child(name), join(parent.path, name)).catch((error: unknown) => {
      // It was a directory a moment ago.
      if (isNoDirectory(error)) return undefined;
      throw error;
    });
    if (child === undefined) return void this.#skipped++;
    try {
      await this.look(child, names);
    } finally {
      await child.close();
    }
  }

  #take(path: string): void {
    const by = this.#wanted.filter(({ glob }) => matchesGlob(path, glob));
    if (by.length === 0) return;
    if (!FilePath.safeParse(path).success) throw refusedFile(path, NO_FILE_PATH);
    for (const wanted of by) wanted.found++;
    this.#paths.push(path);
    if (this.#paths.length > LIMITS.filesMax) throw tooMany(by[0]?.pattern);
  }

  #passBy(path: string, entry: Dirent): void {
    const kind = entry.isSymbolicLink() ? 'link, and links are not followed' : 'pipe, socket or device';
    for (const { glob, outright } of this.#wanted) {
      if ((isPlainPath(glob) && glob === path) || outright.includes(path)) throw refusedFile(path, `is a ${kind}`);
    }
    if (this.#wanted.some(({ glob }) => matchesGlob(path, glob))) this.#skipped++;
  }
}

function wantedBy(pattern: FilePattern): Wanted {
  const { glob, isOptional } = filePatternOf(pattern);
  const parts = glob.split('/').slice(0, -1);
  const wild = parts.findIndex((part) => !isPlainPath(part));
  const plain = wild === -1 ? parts : parts.slice(0, wild);
  const outright = plain.map((_, index) => plain.slice(0, index + 1).join('/'));
  return { pattern, glob, isOptional, outright, found: 0 };
}
