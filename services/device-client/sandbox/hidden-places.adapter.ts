import { lstat, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { HiddenPlace } from './sandbox.js';

/** Where something runs what it is told by whoever may connect: no wall is around that. */
const DOORS = [
  '/run/user',
  '/run/libvirt/libvirt-sock',
  ...['docker', 'containerd/containerd', 'crio/crio', 'podman/podman', 'snapd'].map((name) => `/run/${name}.sock`),
];

export interface Guarded {
  /** Patterns of what holds secrets: `~` is every home, `*` anything in a name, a last `**` the whole directory. */
  readonly patterns: readonly string[];
  /** Directories of the client itself. */
  readonly own: readonly string[];
  /** Where commands work. */
  readonly works: readonly string[];
  /** Who the commands become; null: the user of the client. */
  readonly uid: number | null;
}

/**
 * What of it is there now, as a wall can refuse it: a file, or a directory with all that it holds; outer ones first. A pattern for
 * every directory (two stars in front) cannot be looked up: that is the word of the policy alone.
 */
export async function hiddenPlaces({ patterns, own, works: given, uid }: Guarded): Promise<HiddenPlace[]> {
  const homes = await homesOf();
  const paths = patterns.flatMap((pattern) =>
    pattern.startsWith('~') ? homes.map((home) => `${home}${pattern.slice(1)}`) : [pattern],
  );
  // What the kernel shows of processes leads everywhere.
  const named = paths.filter((path) => !KERNELS.test(path));
  const matching = await Promise.all([...DOORS, ...own, ...named].map(matches));
  const works = await Promise.all(given.map((path) => realpath(path).catch(() => path)));
  const real = await Promise.all(matching.flat().map((path) => realpath(path).catch(() => undefined)));
  const there = [...new Set(real)]
    .filter((path) => path !== undefined)
    .filter((path) => path !== '/' && isShown(path, works));
  const found = await Promise.all(there.map((path) => placeOf(path, works)));
  const passages = uid === null ? [] : await closedAround(works, uid);
  const places = new Map([...passages, ...found.flat()].map((place) => [place.path, place]));
  return [...places.values()]
    .sort((a, b) => a.path.length - b.path.length)
    .filter(({ path }, index, all) => !all.slice(0, index).some((outer) => hides(outer, path, works)));
}

const KERNELS = /^\/(?:proc|sys|dev)\//u;
/** These are other ones behind every wall. */
const OTHERS = /^\/(?:proc|sys|dev|tmp)(?:\/|$)/u;

/** Both absolute, without links. */
export const isAt = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(`${directory}/`);
const isShown = (path: string, works: readonly string[]): boolean =>
  !OTHERS.test(path) || works.some((work) => isAt(path, work));

/** What lies in a hidden directory is hidden with it, but for the ways to where commands work, and what is there. */
export const hides = (outer: HiddenPlace, path: string, works: readonly string[]): boolean =>
  outer.is !== 'file' &&
  path.startsWith(`${outer.path}/`) &&
  !works.some((work) => isAt(work, outer.path) && (isAt(path, work) || isAt(work, path)));

/** The paths that a pattern means now. Null characters and the like match nothing. */
async function matches(pattern: string): Promise<string[]> {
  const names = (pattern.endsWith('/**') ? pattern.slice(0, -3) : pattern).split('/').slice(1);
  let found = [''];
  for (const name of names) {
    if (name === '**') return [];
    const at = found;
    const lists = /[*?]/u.test(name)
      ? await Promise.all(
          at.map(async (directory) => (await namesIn(directory, name)).map((one) => `${directory}/${one}`)),
        )
      : at.map((directory) => [`${directory}/${name}`]);
    found = lists.flat();
  }
  return found;
}

async function namesIn(directory: string, pattern: string): Promise<string[]> {
  const like = new RegExp(
    `^${pattern
      .replaceAll(/[\\^$+.()|[\]{}]/gu, String.raw`\$&`)
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
    'u',
  );
  const names = await readdir(`${directory}/`).catch(() => []);
  return names.filter((name) => like.test(name));
}

async function placeOf(path: string, works: readonly string[]): Promise<HiddenPlace[]> {
  const found = await lstat(path).catch(() => undefined);
  // Where commands work is theirs, whatever a pattern says.
  if (found === undefined || works.includes(path)) return [];
  if (!found.isDirectory()) return [{ path, is: 'file' }];
  return [{ path, is: works.some((work) => isAt(work, path)) ? 'passage' : 'directory' }];
}

/** Directories that another user cannot pass on the way to where commands work: an empty one stands there for him. */
async function closedAround(works: readonly string[], uid: number): Promise<HiddenPlace[]> {
  const above = [...new Set(works.flatMap(ancestorsOf))].filter((path) => isShown(path, works));
  const found = await Promise.all(
    above.map(async (path): Promise<HiddenPlace[]> => {
      const { mode, uid: owner } = await stat(path);
      return owner === uid || (mode & 0o001) !== 0 ? [] : [{ path, is: 'passage' }];
    }),
  );
  return found.flat();
}

/** The nearest first, without the root. */
export function ancestorsOf(path: string): string[] {
  const up = dirname(path);
  return up === path || up === '/' ? [] : [up, ...ancestorsOf(up)];
}

async function homesOf(): Promise<string[]> {
  const passwd = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const homes = passwd.split('\n').flatMap((line) => line.split(':')[5] ?? []);
  const all = [...homes, process.env['HOME'] ?? '/root'];
  return [...new Set(all)].filter((home) => home.startsWith('/') && home !== '/' && !OTHERS.test(home));
}
