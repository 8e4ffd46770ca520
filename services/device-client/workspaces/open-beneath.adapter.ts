// Names below a workspace, which its commands may change at any time: each directory is opened from the one before it, by its handle,
// and no link is followed.
import { constants } from 'node:fs';
import { lstat, mkdir, open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../faults/index.js';
import { OpenDirectory, type FileOwner } from '../files/index.js';
import { clash, refusedFile } from './file-problem.js';

const { O_DIRECTORY, O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const DIRECTORY_MODE = 0o700;

export const openDirectory = async (path: string, name = path): Promise<OpenDirectory> =>
  new OpenDirectory(await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), name);

/** A link, or something else that is no directory, stands where one is wanted. */
export const isNoDirectory = (error: unknown): boolean => ['ENOTDIR', 'ELOOP'].includes(errorCode(error) ?? '');

/** A regular file of a workspace. Throws FileProblem when it is not one any more, and what the system says. */
export async function openFileBeneath(workspace: string, path: string): Promise<FileHandle> {
  const names = path.split('/');
  const last = names.pop() ?? '';
  const directory = await descend(workspace, names).catch((error: unknown) => {
    throw isNoDirectory(error) ? refusedFile(path, 'leads over something that is no directory') : error;
  });
  try {
    // Without waiting: a named pipe would let us wait for a writer for ever.
    const handle = await open(directory.child(last), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY).catch(
      (error: unknown) => {
        throw isNoDirectory(error) ? refusedFile(path, 'is a link, and links are not followed') : error;
      },
    );
    try {
      await mustBeTheirs(handle, workspace, path);
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  } finally {
    await directory.close();
  }
}

/** The directory of a file that is to be written, made where it is missing. To be closed by the caller. Throws FileProblem. */
export async function makeDirectories(
  workspace: string,
  path: string,
  owner: FileOwner | undefined,
): Promise<{ readonly directory: OpenDirectory; readonly name: string }> {
  const names = path.split('/');
  const name = names.pop() ?? '';
  const directory = await descend(workspace, names, async (parent, child) => {
    const made = await mkdir(parent.child(child), { mode: DIRECTORY_MODE }).then(
      () => true,
      (error: unknown) => {
        if (errorCode(error) === 'EEXIST') return false;
        throw error;
      },
    );
    return made ? owner : undefined;
  }).catch((error: unknown) => {
    throw isNoDirectory(error) ? clash(path, 'a part of its path is there and is no directory') : error;
  });
  return { directory, name };
}

type Make = (parent: OpenDirectory, name: string) => Promise<FileOwner | undefined>;

async function descend(workspace: string, names: readonly string[], make?: Make): Promise<OpenDirectory> {
  let directory = await openDirectory(workspace);
  try {
    for (const name of names) {
      const owner = await make?.(directory, name);
      const next = await openDirectory(directory.child(name), join(directory.path, name));
      await directory.close();
      directory = next;
      await directory.giveTo(owner);
    }
    return directory;
  } catch (error) {
    await directory.close();
    throw error;
  }
}

/** A client that is root reads everything: a second name of somebody else's file is no file of the workspace. */
async function mustBeTheirs(handle: FileHandle, workspace: string, path: string): Promise<void> {
  const found = await handle.stat();
  if (!found.isFile()) throw refusedFile(path, 'is no regular file');
  if (found.nlink < 2 || process.geteuid?.() !== 0) return;
  const { uid } = await lstat(workspace);
  if (found.uid !== uid) throw refusedFile(path, 'is a second name of a file of somebody else');
}
