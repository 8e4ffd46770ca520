import { chown, mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { clearLeftDownloads } from './left-downloads.adapter.js';

const NOBODY = 65_534;
const isRoot = process.geteuid?.() === 0;
const NOW = Date.now();
const OLD = new Date(NOW - 2 * 60 * 60 * 1_000);

let dir: string;
beforeEach(async () => void (dir = await mkdtemp(join(tmpdir(), 'orrery-left-'))));
afterEach(() => rm(dir, { recursive: true, force: true }));

/** A directory as tools leave it that are killed while a file comes. */
async function left(name: string, at = OLD): Promise<string> {
  const path = join(dir, name);
  await mkdir(path);
  await writeFile(join(path, 'half'), 'half of a file');
  await utimes(path, at, at);
  return path;
}

describe('what killed tools have left of their downloads', () => {
  it('is removed when it is old, and nothing else is', async () => {
    await left('orrery-download-old');
    await left('orrery-download-new', new Date(NOW));
    await left('another-download-old');
    await writeFile(join(dir, 'orrery-download-file'), 'a file');
    await utimes(join(dir, 'orrery-download-file'), OLD, OLD);
    await clearLeftDownloads(dir, NOW);
    expect((await readdir(dir)).toSorted()).toEqual([
      'another-download-old',
      'orrery-download-file',
      'orrery-download-new',
    ]);
  });

  it('is removed without what its links lead to, and a link in its place stays', async () => {
    const kept = join(dir, 'kept');
    await mkdir(kept);
    await writeFile(join(kept, 'file'), 'of somebody');
    await utimes(kept, OLD, OLD);
    const old = await left('orrery-download-old');
    await symlink(kept, join(old, 'link'));
    await utimes(old, OLD, OLD);
    await symlink(kept, join(dir, 'orrery-download-link'));
    await clearLeftDownloads(dir, NOW);
    expect((await readdir(dir)).toSorted()).toEqual(['kept', 'orrery-download-link']);
    expect(await readFile(join(kept, 'file'), 'utf8')).toBe('of somebody');
  });

  (isRoot ? it : it.skip)('stays when it is of another user', async () => {
    const old = await left('orrery-download-old');
    await chown(old, NOBODY, NOBODY);
    await clearLeftDownloads(dir, NOW);
    expect(await readdir(dir)).toEqual(['orrery-download-old']);
  });

  it('is nothing where there is no such directory any more', async () => {
    await clearLeftDownloads(dir, NOW);
    expect(await readdir(dir)).toEqual([]);
  });
});
