import { execFileSync } from 'node:child_process';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '#libs/embedded';

const MIB = 1024 * 1024;
const PAGE = 4_096;

/** A disk of a test's own, in memory: to be filled. */
export interface SmallDisk {
  /** Takes all the room that is left, however little. */
  fill(): Promise<void>;
  /** Gives it back. */
  free(): Promise<void>;
  /** Also while somebody still has files open there. */
  unmount(): void;
}

/** Mounts one at a directory that there is. Undefined where that is not allowed: only root may, and not in every container. */
export function mountSmallDisk(directory: string, { mib }: { readonly mib: number }): SmallDisk | undefined {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mib}m,mode=700`, 'tmpfs', directory], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  const filling = join(directory, 'filling');
  return {
    fill: async () => {
      const file = await open(filling, 'w');
      try {
        for (const size of [MIB, PAGE]) await writeUntilFull(() => file.write(Buffer.alloc(size)));
      } finally {
        await file.close();
      }
    },
    free: () => rm(filling, { force: true }),
    unmount: () => void execFileSync('umount', ['-l', directory]),
  };
}

async function writeUntilFull(write: () => Promise<unknown>): Promise<void> {
  try {
    for (;;) await write();
  } catch (error) {
    if (errorCode(error) !== 'ENOSPC') throw error;
  }
}
