// What lies in a workspace, to be counted or to be removed. Its commands may have made anything: links, directories that nobody may enter,
// names that are no text, a thousand directories in each other, a mount. Each directory is used by its handle, and a link is never followed.
import { randomBytes } from 'node:crypto';
import { constants, type Dirent } from 'node:fs';
import { chmod, lstat, open, readdir, rename, rmdir, unlink, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../faults/index.js';
import { HANDLES } from '../files/index.js';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
/** Linux: a handle that only names a place, also one that may not be entered. */
const O_PATH = 0o10000000;
const OWN_DIRECTORY = 0o700;
const BLOCK_BYTES = 512;
/** Directories that are open at a time. */
const DEPTH_MAX = 32;
/** Names that are counted; there may be more. */
const COUNTED_MAX = 200_000;
const NAME_BYTES = 12;

export interface Counted {
  readonly bytes: number;
  readonly files: number;
}

/** How much lies in a directory, as far as somebody may look and it is not too much. */
export async function countTree(path: string): Promise<Counted> {
  const counted = { bytes: 0, files: 0, names: 0 };
  await count(Buffer.from(path), counted, 0);
  return { bytes: counted.bytes, files: counted.files };
}

async function count(path: Buffer, counted: Counted & { bytes: number; files: number; names: number }, depth: number) {
  const directory = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch(() => undefined);
  if (directory === undefined) return;
  try {
    for (const entry of await entriesOf(directory, path)) {
      if (++counted.names > COUNTED_MAX) return;
      const child = childOf(directory, path, entry);
      const found = await lstat(child).catch(() => undefined);
      counted.bytes += (found?.blocks ?? 0) * BLOCK_BYTES;
      if (entry.isDirectory() && depth < DEPTH_MAX) await count(child, counted, depth + 1);
      else if (!entry.isDirectory()) counted.files++;
    }
  } finally {
    await directory.close();
  }
}

/**
 * Takes a directory and all that is in it away. `aside`: a directory of the same file system for what is too deep, to be emptied later. False:
 * something of it stays, because it is mounted, or somebody writes there.
 */
export async function removeTree(path: string, aside: string): Promise<boolean> {
  const { dev } = await lstat(path);
  const asides = [Buffer.from(path)];
  let all = true;
  for (let next = asides.shift(); next !== undefined; next = asides.shift()) {
    const remover = new Remover(dev, aside, asides);
    all = (await remover.remove(next, 0)) && all;
  }
  return all;
}

class Remover {
  readonly #dev: number;
  readonly #aside: string;
  readonly #asides: Buffer[];

  constructor(dev: number, aside: string, asides: Buffer[]) {
    this.#dev = dev;
    this.#aside = aside;
    this.#asides = asides;
  }

  async remove(path: Buffer, depth: number): Promise<boolean> {
    const directory = await opened(path);
    if (directory === undefined) return true;
    try {
      if ((await directory.stat()).dev !== this.#dev) return false;
      for (const entry of await entriesOf(directory, path)) {
        const child = childOf(directory, path, entry);
        if (!entry.isDirectory()) await unlink(child).catch(notThere);
        else if (depth < DEPTH_MAX) await this.remove(child, depth + 1);
        else await this.#putAside(child);
      }
    } finally {
      await directory.close();
    }
    return rmdir(path).then(() => true, isGone);
  }

  /** A directory that is not our own to write cannot be moved. */
  async #putAside(path: Buffer): Promise<void> {
    const to = join(this.#aside, `.gone-${randomBytes(NAME_BYTES).toString('hex')}`);
    await opened(path).then((directory) => directory?.close());
    await rename(path, to);
    this.#asides.push(Buffer.from(to));
  }
}

/** To be read and emptied, whatever its permissions are; undefined: it is not there, or is no directory any more. */
async function opened(path: Buffer): Promise<FileHandle | undefined> {
  const flags = O_DIRECTORY | O_NOFOLLOW;
  if (HANDLES !== undefined) {
    const place = await open(path, O_PATH | flags).catch(notThere);
    if (place === undefined) return undefined;
    await chmod(`${HANDLES}/${place.fd}`, OWN_DIRECTORY).catch(() => undefined);
    await place.close();
  }
  return (await open(path, O_RDONLY | flags).catch(notThere)) ?? undefined;
}

const entriesOf = (directory: FileHandle, path: Buffer): Promise<Dirent<Buffer>[]> =>
  readdir(HANDLES === undefined ? path : `${HANDLES}/${directory.fd}`, { withFileTypes: true, encoding: 'buffer' });

/** Names need not be text. */
const childOf = (directory: FileHandle, path: Buffer, { name }: Dirent<Buffer>): Buffer =>
  Buffer.concat([HANDLES === undefined ? path : Buffer.from(`${HANDLES}/${directory.fd}`), Buffer.from('/'), name]);

const isGone = (error: unknown): boolean => errorCode(error) === 'ENOENT';

function notThere(error: unknown): undefined {
  if (!['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errorCode(error) ?? '')) throw error;
}
