import { chown, lchown, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isWithin } from '../exec/index.js';
import { InputError } from '../faults/index.js';

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

const ROOT = 0;
const OTHERS_WRITE = 0o022;

/**
 * The jail directory becomes that of whom commands run as, by a client that is root. What commands of an earlier start, which were
 * root, have left in it becomes theirs, too: once, as long as nobody else can have put anything there, and below the data directory
 * only, where all of it is from commands. Throws InputError.
 */
export async function giveJail(jailDir: string, owner: Owner, dataDir: string): Promise<void> {
  if (jailDir === '/') throw new InputError('commands start in /, which is not given to the user that they run as.');
  const { uid, mode } = await lstat(jailDir);
  if (uid === ROOT && (mode & OTHERS_WRITE) === 0 && isWithin(jailDir, dataDir)) await giveContents(jailDir, owner);
  await chown(jailDir, owner.uid, owner.gid);
}

/** Links lead elsewhere, and a file with several names may have one elsewhere: both stay as they are. */
async function giveContents(directory: string, owner: Owner): Promise<void> {
  const { dev } = await lstat(directory);
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    const found = await lstat(path);
    const isOurs = found.uid === ROOT && found.dev === dev;
    if (isOurs && found.isDirectory()) await giveContents(path, owner);
    if (isOurs && (found.isDirectory() || (found.isFile() && found.nlink === 1)))
      await lchown(path, owner.uid, owner.gid);
  }
}
