import { mkdir, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A folder that is this process's alone, readable by servers of other users: the same one at each call. What lies in it is for all
 * files that the process tests. Folders of processes that are gone are swept, after `release` has let go of what still uses them.
 */
export async function processFolder(
  prefix: string,
  release: (folder: string) => Promise<unknown> = () => Promise.resolve(),
): Promise<string> {
  for (const entry of await readdir(tmpdir())) {
    const owner = entry.startsWith(prefix) ? Number(entry.slice(prefix.length)) : Number.NaN;
    if (!Number.isInteger(owner) || isAlive(owner)) continue;
    const folder = join(tmpdir(), entry);
    // Best effort: several processes may sweep at the same time.
    await release(folder).catch(() => undefined);
    await rm(folder, { recursive: true, force: true }).catch(() => undefined);
  }
  const own = join(tmpdir(), `${prefix}${process.pid}`);
  await mkdir(own, { recursive: true, mode: 0o755 });
  return own;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
