// Where files may be read and written. Names are only hints: a link may lead anywhere, and may be put there between a check
// and the use. So a directory is opened first, asked where it really is, and then used by its handle and not by its name.
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { link, lstat, mkdir, open, readlink, realpath, rename, stat, unlink, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { ToolFailure } from '#libs/mcp';
import { errorCode } from '../faults/index.js';
import { isWithin } from '../exec/index.js';
import { HANDLES, OpenDirectory, type FileOwner } from './open-directory.adapter.js';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
const PERMISSIONS = 0o777;
const DEPTH_MAX = 256;
const NAME_BYTES = 12;

export interface FilePlacesOptions {
  /** Relative paths start here, and what is below may always be used. */
  readonly jailDir: string;
  /** More directories, absolute. */
  readonly allowed: readonly string[];
}

export class FilePlaces {
  readonly #jailDir: string;
  readonly #directories: readonly string[];

  constructor({ jailDir, allowed }: FilePlacesOptions) {
    this.#jailDir = resolve(jailDir);
    this.#directories = [this.#jailDir, ...allowed.map((directory) => resolve(directory))];
  }

  /** A regular file to read from, and where it really is. Throws ToolFailure, and what the system says. */
  async openFile(path: string): Promise<{ readonly handle: FileHandle; readonly path: string }> {
    const target = this.#resolved(path);
    const real = await realpath(target).catch((error: unknown) => {
      throw errorCode(error) === 'ENOENT' ? new ToolFailure(`There is no file ${path}.`) : error;
    });
    await this.#mustBeAllowed(real, path);
    // Without waiting: a named pipe would let us wait for a writer for ever.
    const handle = await open(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    try {
      const opened = await whereIs(handle, real);
      await this.#mustBeAllowed(opened, path);
      if (!(await handle.stat()).isFile()) throw new ToolFailure(`${path} is not a regular file.`);
      return { handle, path: opened };
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** The place of a file that is to be written; directories on the way to it are made. To be closed by the caller. */
  async openPlace(path: string): Promise<FilePlace> {
    const target = this.#resolved(path);
    const name = basename(target);
    if (this.#directories.includes(target) || path.endsWith('/')) throw new ToolFailure(`${path} names a directory.`);
    const [existing, missing] = await deepestExisting(dirname(target));
    let directory = await this.#enter(await realpath(existing), path);
    try {
      const owner = await this.#ownerIn(directory.path);
      for (const part of missing) {
        const made = mkdir(directory.child(part), { mode: DIRECTORY_MODE }).then(() => true);
        const isNew = await made.catch(unless('EEXIST'));
        const next = await this.#enter(directory.child(part), path, join(directory.path, part));
        await directory.close();
        directory = next;
        if (isNew === true) await directory.giveTo(owner);
      }
      return new FilePlace(directory, name, owner);
    } catch (error) {
      await directory.close();
      throw error;
    }
  }

  /** What a client that is root puts into the jail directory is for commands, which run as somebody else: undefined elsewhere. */
  async #ownerIn(real: string): Promise<FileOwner | undefined> {
    if (process.geteuid?.() !== 0 || !isWithin(real, await realpath(this.#jailDir))) return undefined;
    const { uid, gid } = await stat(this.#jailDir);
    return { uid, gid };
  }

  async #enter(at: string, asked: string, otherwise = at): Promise<OpenDirectory> {
    const handle = await open(at, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch((error: unknown) => {
      if (errorCode(error) !== 'ENOTDIR' && errorCode(error) !== 'ELOOP') throw error;
      throw new ToolFailure(`A part of ${asked} is not a directory.`);
    });
    try {
      const path = await whereIs(handle, otherwise);
      await this.#mustBeAllowed(path, asked);
      return new OpenDirectory(handle, path);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** By its words alone; `..` counts as it is written. */
  #resolved(path: string): string {
    const target = resolve(this.#jailDir, path);
    if (!this.#directories.some((directory) => isWithin(target, directory))) throw outside(path);
    return target;
  }

  async #mustBeAllowed(real: string, asked: string): Promise<void> {
    for (const directory of this.#directories) {
      const allowed = await realpath(directory).catch(() => undefined);
      if (allowed !== undefined && isWithin(real, allowed)) return;
    }
    throw outside(asked);
  }
}

const outside = (path: string): ToolFailure =>
  new ToolFailure(`${path} is outside of the directories that this device may use for files (files.paths).`);

/** Where one file is to be. */
export class FilePlace {
  readonly #directory: OpenDirectory;
  readonly #name: string;
  readonly #owner: FileOwner | undefined;
  readonly path: string;

  /** `owner`: whose a new file is; undefined: of who makes it. */
  constructor(directory: OpenDirectory, name: string, owner: FileOwner | undefined) {
    this.#directory = directory;
    this.#name = name;
    this.#owner = owner;
    this.path = join(directory.path, name);
  }

  /** Permissions of the file that is there; null when there is none. Throws ToolFailure for what must not be replaced. */
  async occupant(): Promise<{ readonly mode: number } | null> {
    const found = await lstat(this.#directory.child(this.#name)).catch(unless('ENOENT'));
    if (found === undefined) return null;
    // A link is replaced itself; what it leads to is not touched.
    if (found.isSymbolicLink()) return { mode: FILE_MODE };
    if (!found.isFile()) throw new ToolFailure(`${this.path} is there and is not a regular file.`);
    return { mode: found.mode & PERMISSIONS };
  }

  /** A new file beside it that nobody looks for. */
  async openTemporary(): Promise<{ readonly handle: FileHandle; readonly name: string }> {
    const name = `.orrery-${randomBytes(NAME_BYTES).toString('hex')}.part`;
    const handle = await open(this.#directory.child(name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, FILE_MODE);
    if (this.#owner !== undefined) await handle.chown(this.#owner.uid, this.#owner.gid);
    return { handle, name };
  }

  /** Gives the temporary file, which is on the disk, its name. Throws ToolFailure when that is taken and may not be. */
  async take(temporary: string, overwrite: boolean): Promise<void> {
    const [from, to] = [this.#directory.child(temporary), this.#directory.child(this.#name)];
    if (overwrite) await rename(from, to);
    else {
      // A link to it fails when the name is taken, which a rename does not.
      await link(from, to).catch((error: unknown) => {
        throw errorCode(error) === 'EEXIST' ? new ToolFailure(`${this.path} is there already.`) : error;
      });
      await unlink(from);
    }
    await this.#directory.sync();
  }

  async remove(temporary: string): Promise<void> {
    await unlink(this.#directory.child(temporary)).catch(unless('ENOENT'));
  }

  async close(): Promise<void> {
    await this.#directory.close();
  }
}

async function whereIs(handle: FileHandle, otherwise: string): Promise<string> {
  return HANDLES === undefined ? otherwise : readlink(`${HANDLES}/${handle.fd}`);
}

/** The part of a path that is there, and the names of what is not. A link that leads nowhere is there. */
async function deepestExisting(path: string): Promise<[string, string[]]> {
  const missing: string[] = [];
  for (let at = path; missing.length < DEPTH_MAX; at = dirname(at)) {
    if ((await lstat(at).catch(unless('ENOENT'))) !== undefined) return [at, missing];
    missing.unshift(basename(at));
  }
  throw new ToolFailure(`The path is deeper than ${DEPTH_MAX} directories.`);
}

const unless =
  (code: string) =>
  (error: unknown): undefined => {
    if (errorCode(error) !== code) throw error;
  };
