import { lstat, rename, rm, type FileHandle } from 'node:fs/promises';
import { mayPass, type FileSink } from '#libs/aip';
import { FILE_ENDS, LIMITS, type WorkspaceFile, type WorkspaceInInput, type WorkspaceInResult } from '#proto';
import { errorCode } from '../faults/index.js';
import {
  FileTarget,
  type FileErrand,
  type FileLink,
  measuredFile,
  type OpenDirectory,
  type OpenSink,
} from '../files/index.js';
import { clash, diskFull, FileProblem, named } from './file-problem.js';
import { makeDirectories, openFileBeneath } from './open-beneath.adapter.js';
import type { Workspaces } from './workspaces.adapter.js';

export interface WorkspaceInOptions {
  readonly link: Pick<FileLink, 'fetch'>;
  readonly workspaces: Pick<Workspaces, 'freeBytes' | 'openPart' | 'owner'>;
}

const PERMISSIONS = 0o777;
const FULL = new Set(['ENOSPC', 'EDQUOT']);

/** Writes what a task takes, whole or not at all; what is there already with the same content is not fetched again. */
export class WorkspaceIn {
  readonly #options: WorkspaceInOptions;

  constructor(options: WorkspaceInOptions) {
    this.#options = options;
  }

  /** Throws FileProblem, what the disk says, and the reason of the signal. */
  async run(workspace: string, { files }: WorkspaceInInput, errand: FileErrand): Promise<WorkspaceInResult> {
    const wanted = oneForEachPath(files);
    const absent: WorkspaceFile[] = [];
    for (const file of wanted) if (!(await isThere(workspace, file, errand.signal))) absent.push(file);
    await this.#mustFit(absent);
    for (const file of absent) await this.#fetch(workspace, file, errand);
    return { fetched: absent.length };
  }

  /** All of them, before the first byte of any. */
  async #mustFit(files: readonly WorkspaceFile[]): Promise<void> {
    if (files.length === 0) return;
    const needed = files.reduce((sum, { bytes }) => sum + bytes, 0) + LIMITS.fileDiskBytesFree;
    const free = await this.#options.workspaces.freeBytes();
    if (free < needed) throw diskFull(undefined, { needed, free });
  }

  async #fetch(workspace: string, file: WorkspaceFile, errand: FileErrand): Promise<void> {
    const { workspaces, link } = this.#options;
    const { directory, name } = await makeDirectories(workspace, file.path, workspaces.owner);
    const place = new Place({ workspaces, directory, name, file });
    try {
      await place.mustBeFree();
      for (;;) {
        const failure = await link.fetch({ sha256: file.sha256, bytes: file.bytes }, place.sink, errand);
        if (failure === null) return;
        errand.signal.throwIfAborted();
        if (place.problem !== undefined) throw place.problem;
        if (place.isFull) {
          const free = await workspaces.freeBytes();
          throw diskFull(file.path, { needed: file.bytes + LIMITS.fileDiskBytesFree, free });
        }
        if (!mayPass(failure)) {
          throw new FileProblem(FILE_ENDS.unavailable, `${named(file.path)} cannot be fetched: ${failure.message}`);
        }
      }
    } finally {
      await directory.close();
    }
  }
}

interface PlaceOptions {
  readonly workspaces: WorkspaceInOptions['workspaces'];
  readonly directory: OpenDirectory;
  readonly name: string;
  readonly file: WorkspaceFile;
}

/** Where one file is to be; its part lies where no command sees it. */
class Place {
  readonly #options: PlaceOptions;
  /** The disk has taken no more. */
  isFull = false;
  /** Something came into its place while it was fetched. */
  problem: FileProblem | undefined;

  constructor(options: PlaceOptions) {
    this.#options = options;
  }

  readonly sink: OpenSink = async (events) => {
    const target = await this.#noting(() =>
      FileTarget.open({
        place: {
          openTemporary: () => this.#openPart(),
          take: (part) => this.#take(part),
          remove: (part) => rm(part, { force: true }),
        },
        mode: Number.parseInt(this.#options.file.mode, 8),
        overwrite: true,
        taken: (bytes) => events.taken(bytes),
        failed: (error) => events.failed(this.#noted(error)),
      }),
    );
    const sink: FileSink = {
      write: (data) => target.write(data),
      commit: () => this.#noting(() => target.commit()),
      discard: () => target.discard(),
    };
    return sink;
  };

  /** A file of the run may be replaced, anything else not. */
  async mustBeFree(): Promise<void> {
    const { directory, name, file } = this.#options;
    const found = await lstat(directory.child(name)).catch(ifAbsent);
    if (found === undefined || found.isFile()) return;
    const what = found.isSymbolicLink() ? 'a link' : found.isDirectory() ? 'a directory' : 'a pipe, socket or device';
    throw clash(file.path, `${what} is there`);
  }

  async #openPart(): Promise<{ readonly handle: FileHandle; readonly name: string }> {
    const { handle, path } = await this.#options.workspaces.openPart();
    const { owner } = this.#options.workspaces;
    if (owner !== undefined) await handle.chown(owner.uid, owner.gid);
    return { handle, name: path };
  }

  async #take(part: string): Promise<void> {
    const { directory, name } = this.#options;
    try {
      await this.mustBeFree();
      // A link that came meanwhile is replaced itself; what it leads to is not touched.
      await rename(part, directory.child(name));
    } catch (error) {
      if (error instanceof FileProblem) this.problem = error;
      throw error;
    }
    await directory.sync();
  }

  async #noting<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.#noted(error);
    }
  }

  #noted(error: unknown): unknown {
    if (FULL.has(errorCode(error) ?? '')) this.isFull = true;
    return error;
  }
}

/** Throws FileProblem when two of them cannot be beside each other. */
function oneForEachPath(files: readonly WorkspaceFile[]): readonly WorkspaceFile[] {
  const byPath = new Map<string, WorkspaceFile>();
  for (const file of files) {
    const other = byPath.get(file.path);
    if (other !== undefined && other.sha256 !== file.sha256) throw clash(file.path, 'two files would have this path');
    byPath.set(file.path, file);
  }
  for (const { path } of files) {
    const parts = path.split('/');
    const above = parts.map((_, index) => parts.slice(0, index).join('/')).find((directory) => byPath.has(directory));
    if (above !== undefined) throw clash(path, `${named(above)} is a file, and would have to be a directory`);
  }
  return [...byPath.values()];
}

async function isThere(workspace: string, file: WorkspaceFile, signal: AbortSignal): Promise<boolean> {
  const handle = await openFileBeneath(workspace, file.path).catch((error: unknown) => {
    // What is in its way is told when it is to be written.
    if (error instanceof FileProblem) return undefined;
    return ifAbsent(error);
  });
  if (handle === undefined) return false;
  try {
    const { size, mode } = await handle.stat();
    if (size !== file.bytes || (mode & PERMISSIONS) !== Number.parseInt(file.mode, 8)) return false;
    const { artifact } = await measuredFile(handle, signal, undefined);
    return artifact.sha256 === file.sha256;
  } finally {
    await handle.close();
  }
}

function ifAbsent(error: unknown): undefined {
  if (!['ENOENT', 'EACCES'].includes(errorCode(error) ?? '')) throw error;
}
