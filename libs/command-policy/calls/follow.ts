import { posix } from 'node:path';
import type { Below, Links } from './links.js';

/** Where commands begin, and what `~` is to them. */
export interface Starts {
  readonly directory: string;
  readonly home: string;
  /** Where commands may write besides. */
  readonly writable?: readonly string[];
  /** The home of whoever runs commands without a wall, if it is another one. */
  readonly ownHome?: string;
}

export interface Entry {
  readonly name: string;
  readonly kind: 'folder' | 'link' | 'file';
}

/** A file system as it is looked at, by absolute paths that can hold `..`; nothing is known of what is not there or is closed. */
export interface Tree {
  /** What a symbolic link says; undefined where there is none. */
  target(path: string): string | undefined;
  /** What lies in a folder. */
  entries(path: string): readonly Entry[];
}

const NAMES_MAX = 4_000;
/** In a tree that is looked through: some milliseconds. */
const ENTRIES_MAX = 4_000;
/** As many as Linux follows. */
const LINKS_MAX = 40;
/** Made by the kernel for who looks: the policy knows them by their names. */
const OF_THE_KERNEL = /^\/(?:proc|dev\/(?:fd|std(?:in|out|err)))(?:\/|$)/u;

/** Where paths lead as a kernel follows them: `..` behind a link is the folder in which its target lies (path_resolution(7)). */
export function linksIn(tree: Tree, { directory, home, writable = [], ownHome }: Starts): Links {
  const split = (path: string): readonly [string, string] => {
    if (path.startsWith('/')) return ['/', path];
    return [path.startsWith('~') ? home : directory, path.slice(1)];
  };
  const all = (path: string): string[] => [...new Set([path, followed(path, tree)])];
  return {
    get ofCommands() {
      return [directory, home, ...writable].flatMap(all);
    },
    homes: ownHome === undefined ? [] : [ownHome],
    // A link to it may be made later than a policy is opened.
    get starts() {
      return [
        { paths: all(directory), as: '.' },
        { paths: all(home), as: '~' },
      ] as const;
    },
    real(path) {
      const [start, rest] = split(path);
      const written = posix.join(followed(start, tree), rest);
      const real = followed(`${start}/${rest}`, tree);
      return real === written.replace(/(?<=.)\/$/u, '') || OF_THE_KERNEL.test(written) ? undefined : real;
    },
    below(folder) {
      return lookBelow(split(folder).join('/'), tree);
    },
    names(folder) {
      const names = tree.entries(split(folder).join('/')).map(({ name }) => name);
      return names.length > NAMES_MAX ? undefined : names;
    },
  };
}

/** Also where nothing is yet, or where a link leads to nothing: what is written there comes to be there. */
function followed(path: string, tree: Tree): string {
  const parts = path.split('/');
  let at = '';
  for (let left = LINKS_MAX; parts.length > 0;) {
    const part = parts.shift() ?? '';
    if (part === '' || part === '.') continue;
    if (part === '..') {
      at = posix.dirname(at || '/').replace(/^\/$/u, '');
      continue;
    }
    const link = left > 0 ? tree.target(`${at}/${part}`) : undefined;
    if (link === undefined) at = `${at}/${part}`;
    else {
      left -= 1;
      if (link.startsWith('/')) at = '';
      parts.unshift(...link.split('/'));
    }
  }
  return at || '/';
}

/** Of a folder and those in it, nearest first; then of those that links lead to. */
function lookBelow(folder: string, tree: Tree): Below {
  const [files, targets]: [string[], string[]] = [[], []];
  const seen = new Set([followed(folder, tree)]);
  const folders = [{ path: folder, name: '' }];
  const linked: typeof folders = [];
  for (let left = ENTRIES_MAX; left > 0;) {
    const here = folders.shift() ?? linked.shift();
    if (here === undefined) break;
    for (const { name, kind } of tree.entries(here.path)) {
      left -= 1;
      const [path, own] = [`${here.path}/${name}`, `${here.name}${name}`];
      if (kind === 'folder') folders.push({ path, name: `${own}/` });
      else if (kind === 'file') files.push(own);
      else {
        const target = followed(path, tree);
        targets.push(target);
        if (!seen.has(target) && !OF_THE_KERNEL.test(target)) linked.push({ path: target, name: `${target}/` });
        seen.add(target);
      }
    }
  }
  return { files, targets };
}
