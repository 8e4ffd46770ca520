import { realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, normalize } from 'node:path';

/** Where a file of these directories is when links are followed; undefined when it is in none of them, or no plain path. */
export async function placeIn(path: string, directories: readonly string[]): Promise<string | undefined> {
  if (!isAbsolute(path) || path.includes('\0') || normalize(path) !== path) return undefined;
  const place = await placeOf(path);
  const allowed = await Promise.all(directories.map(placeOf));
  const isInside = allowed.some((directory) => directory !== undefined && place?.startsWith(`${directory}/`) === true);
  return isInside ? place : undefined;
}

/** A file that is not there yet is where its directory is. */
async function placeOf(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch {
    const parent = await realpath(dirname(path)).catch(() => undefined);
    return parent === undefined ? undefined : join(parent, basename(path));
  }
}
