import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';

const kept = new WeakMap<Uint8Array, Promise<FileHandle>>();

/**
 * The same content for one command after the other: it is written once, and each gets it from its beginning. To be closed as one of {@link unnamedFile}.
 */
export async function unnamedCopy(directory: string, content: Uint8Array): Promise<FileHandle> {
  const written = kept.get(content) ?? unnamedFile(directory, content);
  kept.set(content, written);
  try {
    return await open(`/proc/self/fd/${(await written).fd}`, 'r');
  } catch (error) {
    kept.delete(content);
    throw error;
  }
}

/** A file with this content that has no name any more: it goes with the last who holds it. Its reader starts at the beginning. */
export async function unnamedFile(directory: string, content: Uint8Array): Promise<FileHandle> {
  const path = join(directory, randomUUID());
  const handle = await open(path, 'wx+', 0o600);
  await unlink(path);
  // Written at a position: that of the descriptor stays where it is.
  await handle.write(content, 0, content.byteLength, 0);
  return handle;
}
