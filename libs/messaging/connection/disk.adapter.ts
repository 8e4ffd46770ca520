import { stat, statfs } from 'node:fs/promises';

/** How much of something is used, and how much there is, in bytes. */
export interface Room {
  readonly usedBytes: number;
  readonly limitBytes: number;
}

/** The room of a file system. */
export interface Disk extends Room {
  /** Which one it is, on this machine. */
  readonly device: number;
}

/** The file system of a directory, as `df` counts: what is kept for root is neither used nor there. Undefined when it is not seen here. */
export async function diskOf(directory: string): Promise<Disk | undefined> {
  try {
    const [{ blocks, bfree, bavail, bsize }, { dev: device }] = await Promise.all([statfs(directory), stat(directory)]);
    const usedBytes = (blocks - bfree) * bsize;
    return { usedBytes, limitBytes: usedBytes + bavail * bsize, device };
  } catch {
    return undefined;
  }
}
