import { readdirSync, readlinkSync } from 'node:fs';
import { posix } from 'node:path';
import type { Links } from '../calls/index.js';

/** Where commands begin, and what `~` is to them. */
export interface Starts {
  readonly directory: string;
  readonly home: string;
}

const NAMES_MAX = 4_000;
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
    names(folder) {
      const names = listed(split(folder).join('/'));
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

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function listed(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
