// The directories of runs on this device, below the data directory.
//
//   workspaces/<run id>        made when the first command of the run begins in it, of the user that commands run as
//   workspaces/.parts          files that are on their way into one; what a process that died has left goes at the next start
//   workspaces/.gone-<random>  what is being removed; removing goes on at the next start
import { randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { lstat, mkdir, open, readdir, realpath, rename, rm, statfs, utimes, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { type DeviceWorkspace, LIMITS, RunId } from '#proto';
import { errorCode } from '../faults/index.js';
import type { FileOwner } from '../files/index.js';
import { openDirectory } from './open-beneath.adapter.js';
import { countTree, removeTree } from './tree.adapter.js';

export interface WorkspacesOptions {
  readonly dataDir: string;
  /** Who commands run as, where that is somebody else than the client. */
  readonly owner: FileOwner | undefined;
  readonly now: () => number;
  readonly logger: Logger;
  /** How much room there is where workspaces are; by default what the system says. */
  readonly freeBytes?: ((directory: string) => Promise<number>) | undefined;
}

/** Where workspaces lie. */
export const workspacesDir = (dataDir: string): string => join(dataDir, 'workspaces');

const PARTS = '.parts';
const GONE = '.gone-';
const OURS = 0o700;
/** Who commands run as comes through, and sees no names. */
const PASSAGE = 0o711;
const NAME_BYTES = 12;

export class Workspaces {
  readonly #options: WorkspacesOptions;
  readonly #dir: string;
  /** One tree after the other, behind what commands do. */
  #emptying: Promise<void> = Promise.resolve();

  private constructor(options: WorkspacesOptions, dir: string) {
    this.#options = options;
    this.#dir = dir;
  }

  static async open(options: WorkspacesOptions): Promise<Workspaces> {
    const dir = workspacesDir(options.dataDir);
    await mkdir(join(dir, PARTS), { recursive: true, mode: options.owner === undefined ? OURS : PASSAGE });
    const real = await realpath(dir);
    return new Workspaces(options, real);
  }

  get owner(): FileOwner | undefined {
    return this.#options.owner;
  }

  /** Where it is, or would be. */
  pathOf(runId: RunId): string {
    return join(this.#dir, RunId.parse(runId));
  }

  /** Makes it where it is missing, and notes that it was asked for. */
  async make(runId: RunId): Promise<string> {
    const path = this.pathOf(runId);
    const { owner, now } = this.#options;
    try {
      await mkdir(path, { mode: OURS });
      const directory = await openDirectory(path);
      await directory.giveTo(owner);
      await directory.close();
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
    // The time of this change, which no command can set, is when it was used last.
    const seconds = now() / 1_000;
    await utimes(path, seconds, seconds);
    return path;
  }

  /** Bytes that may still be written. */
  async freeBytes(): Promise<number> {
    const { freeBytes = freeBytesOf } = this.#options;
    return freeBytes(this.#dir);
  }

  /** A new file that gets its name when it is whole. Commands do not see it. */
  async openPart(): Promise<{ readonly handle: FileHandle; readonly path: string }> {
    const path = join(this.#dir, PARTS, randomBytes(NAME_BYTES).toString('hex'));
    const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
    return { path, handle: await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600) };
  }

  /** Takes it away: at once out of sight, and what is in it in a while, or after the next start. Never rejects. */
  async remove(runId: RunId): Promise<void> {
    const gone = join(this.#dir, `${GONE}${randomBytes(NAME_BYTES).toString('hex')}`);
    try {
      await rename(this.pathOf(runId), gone);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT')
        this.#options.logger.warn({ err: error, runId }, 'a workspace cannot be removed');
      return;
    }
    this.#emptyLater(gone);
  }

  /** What earlier processes have left: parts, what was being removed, and workspaces that no server has asked for in a week. */
  async sweep(isKept: (runId: RunId) => boolean): Promise<void> {
    const { now, logger } = this.#options;
    const parts = join(this.#dir, PARTS);
    await rm(parts, { recursive: true, force: true });
    await mkdir(parts, { mode: OURS });
    for (const name of await readdir(this.#dir)) {
      if (name.startsWith(GONE)) this.#emptyLater(join(this.#dir, name));
    }
    for (const { runId, found } of await this.#all()) {
      if (isKept(runId) || now() - found.ctimeMs < LIMITS.workspaceUnusedMs) continue;
      logger.info({ runId }, 'a workspace that was not used for a week is removed');
      await this.remove(runId);
    }
  }

  /** Resolves when what was taken away until now is gone. */
  async emptied(): Promise<void> {
    await this.#emptying;
  }

  /** The oldest first, as many as one answer has. */
  async list(isKept: (runId: RunId) => boolean): Promise<{ workspaces: DeviceWorkspace[]; more: number }> {
    const all = (await this.#all()).sort((a, b) => a.found.ctimeMs - b.found.ctimeMs);
    const workspaces: DeviceWorkspace[] = [];
    for (const { runId, found } of all.slice(0, LIMITS.workspacesListedMax)) {
      const counted = await countTree(this.pathOf(runId));
      workspaces.push({ runId, ...counted, usedAt: found.ctime.toISOString(), kept: isKept(runId) });
    }
    return { workspaces, more: all.length - workspaces.length };
  }

  async #all(): Promise<{ runId: RunId; found: Stats }[]> {
    const names = (await readdir(this.#dir)).filter((name) => RunId.safeParse(name).success);
    const found = await Promise.all(
      names.map(async (runId) => ({ runId, found: await lstat(join(this.#dir, runId)).catch(() => undefined) })),
    );
    return found.flatMap(({ runId, found: stats }) => (stats?.isDirectory() === true ? [{ runId, found: stats }] : []));
  }

  #emptyLater(path: string): void {
    this.#emptying = this.#emptying.then(() => this.#empty(path));
  }

  async #empty(path: string): Promise<void> {
    const { logger } = this.#options;
    try {
      if (!(await removeTree(path, this.#dir)))
        logger.warn({ path }, 'something of a workspace stays: it is mounted, or written to');
    } catch (error) {
      logger.warn({ err: error, path }, 'a workspace cannot be removed');
    }
  }
}

async function freeBytesOf(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}
