import { access, constants } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';

/** Where a program is that tests need: on the path, where administrators have theirs, or where `./orrery test` has put it. */
export async function findProgram(name: string): Promise<string> {
  for (const directory of places()) {
    const path = join(directory, name);
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
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
