import { type Dirent, readdirSync, readlinkSync } from 'node:fs';
import { posix } from 'node:path';
import type { Links } from '../calls/index.js';

/** Where commands begin, and what `~` is to them. */
export interface Starts {
  readonly directory: string;
  readonly home: string;
}

const NAMES_MAX = 4_000;
/** In a tree that is looked through for links: some milliseconds. */
const ENTRIES_MAX = 4_000;
/** As many as Linux follows. */
const LINKS_MAX = 40;
/** Made by the kernel for who looks: the policy knows them by their names. */
const OF_THE_KERNEL = /^\/(?:proc|dev\/(?:fd|std(?:in|out|err)))(?:\/|$)/u;

/** The files of this device as a policy asks for them: a moment before a command runs, not while it does. */
export function deviceLinks({ directory, home }: Starts): Links {
  const split = (path: string): readonly [string, string] => {
    if (path.startsWith('/')) return ['/', path];
    return [path.startsWith('~') ? home : directory, path.slice(1)];
  };
  return {
    real(path) {
      const [start, rest] = split(path);
      const written = posix.join(followed(start), rest);
      const real = followed(`${start}/${rest}`);
      return real === written.replace(/(?<=.)\/$/u, '') || OF_THE_KERNEL.test(written) ? undefined : real;
    },
    below(folder) {
      return linksBelow(split(folder).join('/'));
    },
    names(folder) {
      const names = entriesOf(split(folder).join('/')).map(({ name }) => name);
      return names.length > NAMES_MAX ? undefined : names;
    },
  };
}

/** Also where nothing is yet, or where a link leads to nothing: what is written there comes to be there. */
function followed(path: string): string {
  const parts = path.split('/');
  let at = '';
  for (let left = LINKS_MAX; parts.length > 0;) {
    const part = parts.shift() ?? '';
    if (part === '' || part === '.') continue;
    if (part === '..') {
      at = posix.dirname(at || '/').replace(/^\/$/u, '');
      continue;
    }
    const link = left > 0 ? linkAt(`${at}/${part}`) : undefined;
    if (link === undefined) at = `${at}/${part}`;
    else {
      left -= 1;
      if (link.startsWith('/')) at = '';
      parts.unshift(...link.split('/'));
    }
  }
  return at || '/';
}

/** Of a folder and those in it, nearest first. */
function linksBelow(folder: string): readonly string[] {
  const folders = [folder];
  const targets: string[] = [];
  for (let left = ENTRIES_MAX, at = 0; left > 0 && at < folders.length; at++) {
    const here = folders[at] ?? '';
    for (const entry of entriesOf(here)) {
      left -= 1;
      if (entry.isDirectory()) folders.push(`${here}/${entry.name}`);
      else if (entry.isSymbolicLink()) targets.push(followed(`${here}/${entry.name}`));
    }
  }
  return targets;
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
