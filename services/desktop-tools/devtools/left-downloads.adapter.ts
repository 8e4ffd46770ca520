import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PREFIX = 'orrery-download-';
/** Longer than any download takes: what tools of another display fetch now is younger. */
const OLD_MS = 60 * 60 * 1_000;

/** Where a file lies while it comes; for this user alone. */
export const stagingDirectory = (): Promise<string> => mkdtemp(join(tmpdir(), PREFIX));

/** Removes what tools that were killed have left of their downloads: directories of this user, old ones, and no link is followed. */
export async function clearLeftDownloads(directory: string = tmpdir(), now: number = Date.now()): Promise<void> {
  const names = (await readdir(directory)).filter((name) => name.startsWith(PREFIX));
  for (const name of names) {
    const path = join(directory, name);
    const found = await lstat(path).catch(() => undefined);
    if (found?.isDirectory() !== true || found.uid !== process.geteuid?.() || now - found.mtimeMs < OLD_MS) continue;
    await rm(path, { recursive: true, force: true });
  }
}
