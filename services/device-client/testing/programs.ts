import { access, constants, copyFile, mkdir, rename, stat } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';

/** Programs that stand here for clients that may not look where they were found. */
const SHARED_DIR = join(import.meta.dirname, '../../../.cache/programs');
/** The permission to pass through a directory, of who is neither its owner nor in its group. */
const OTHERS_PASS = 0o001;

/** Where a program is that tests need: on the path, where administrators have theirs, or where `./orrery test` has put it. */
export async function findProgram(name: string): Promise<string> {
  for (const directory of places()) {
    const path = join(directory, name);
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return (await isForEverybody(directory)) ? path : shared(path, name);
  }
  throw new Error(`These tests need the program ${name}: start them with ./orrery test, or install it.`);
}

/** The search path of this process with those places in it. */
export const pathOfTests = (): string => places().join(delimiter);

function places(): string[] {
  const fetched = process.env['ORRERY_BWRAP'];
  const given = (process.env['PATH'] ?? '').split(delimiter);
  return [...given, '/usr/sbin', '/sbin', ...(fetched === undefined ? [] : [dirname(fetched)])];
}

/** False of what lies in the home of root, say, which is closed to everybody else. */
async function isForEverybody(directory: string): Promise<boolean> {
  const { mode } = await stat(directory);
  if ((mode & OTHERS_PASS) === 0) return false;
  return dirname(directory) === directory || isForEverybody(dirname(directory));
}

/** A copy that an unprivileged client can run, made once: whole or not at all, for other tests may be looking. */
async function shared(path: string, name: string): Promise<string> {
  const [copy, part] = [join(SHARED_DIR, name), join(SHARED_DIR, `${name}.${process.pid}`)];
  const [its, theirs] = await Promise.all([stat(path), stat(copy).catch(() => undefined)]);
  if (theirs !== undefined && theirs.size === its.size && theirs.mtimeMs >= its.mtimeMs) return copy;
  await mkdir(SHARED_DIR, { recursive: true });
  await copyFile(path, part);
  await rename(part, copy);
  return copy;
}
