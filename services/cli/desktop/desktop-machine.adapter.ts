import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:fs';
import { access, readFile, realpath, stat } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DESKTOP_PLACES, DESKTOP_USER, type DesktopMachine } from './desktop-plan.js';

const distServices = fileURLToPath(new URL('../..', import.meta.url));
const OTHERS_READ = 0o004;
const OTHERS_ENTER = 0o001;

/** Whom a program runs as, where that is not us. */
export interface OtherUser {
  readonly uid: number;
  readonly gid: number;
}

const isRoot = (): boolean => process.geteuid?.() === 0;

/** The user of a desktop where we are root; undefined where it is ours, or there is no such user. */
export async function desktopUser(): Promise<OtherUser | undefined> {
  if (!isRoot()) return undefined;
  const passwd = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const [, , uid = '', gid = ''] =
    passwd
      .split('\n')
      .find((line) => line.startsWith(`${DESKTOP_USER}:`))
      ?.split(':') ?? [];
  return /^\d+$/u.test(uid) && /^\d+$/u.test(gid) ? { uid: Number(uid), gid: Number(gid) } : undefined;
}

/** `path`: where programs are looked for. `home`: where the system will lie, as far as it is there. */
export async function desktopMachine(path: string, home: string): Promise<DesktopMachine> {
  const { platform } = process;
  const places = path.split(delimiter);
  const user = await desktopUser();
  const found = await Promise.all(
    DESKTOP_PLACES.map(async (place) => {
      const paths = place.startsWith('/') ? [place] : places.map((directory) => join(directory, place));
      return (await Promise.all(paths.map(isThere))).includes(true) ? [place] : [];
    }),
  );
  return {
    platform,
    there: new Set(found.flat()),
    isRoot: isRoot(),
    hasUser: user !== undefined,
    hasNamespaces: platform === 'linux' && (await hasNamespaces(user)),
    closed: isRoot() ? await closedOf([distServices, process.execPath], dirname(home)) : undefined,
  };
}

const isThere = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

/** Tried, because three settings and a module of the kernel decide it. */
async function hasNamespaces(user: OtherUser | undefined): Promise<boolean> {
  const child = spawn('unshare', ['--user', '--map-root-user', 'true'], { stdio: 'ignore', ...user });
  return Promise.race([once(child, 'exit').then(([code]) => code === 0), once(child, 'error').then(() => false)]);
}

/** The first on the way to these that others may not read, or enter. */
async function closedOf(readable: readonly string[], entered: string): Promise<string | undefined> {
  for (const path of readable) {
    const found = await closed(await realpath(path), OTHERS_READ);
    if (found !== undefined) return found;
  }
  return closed(entered, OTHERS_ENTER);
}

async function closed(path: string, right: number): Promise<string | undefined> {
  const above = dirname(path);
  const found = above === path ? undefined : await closed(above, OTHERS_ENTER);
  if (found !== undefined) return found;
  const mode = await stat(path).then(
    (facts) => facts.mode,
    () => undefined,
  );
  return mode === undefined || (mode & right) !== 0 ? undefined : path;
}
