import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** A file with this content that has no name any more: it goes with the last who holds it. Its reader starts at the beginning. */
export async function unnamedFile(directory: string, content: Uint8Array): Promise<FileHandle> {
  const path = join(directory, randomUUID());
  const handle = await open(path, 'wx+', 0o600);
  await unlink(path);
  // Written at a position: that of the descriptor stays where it is.
  await handle.write(content, 0, content.byteLength, 0);
  return handle;
}
