import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { hiddenPlaces } from './hidden-places.adapter.js';

describe('what a wall hides', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp('/var/tmp/orrery-hidden-');
    for (const directory of ['keys/old', 'data/jail', 'app/.secrets', 'etc']) {
      await mkdir(join(root, directory), { recursive: true });
    }
    for (const file of ['etc/shadow', 'etc/shadow-', 'etc/passwd', 'keys/a', 'app/.secrets/b']) {
      await writeFile(join(root, file), '');
    }
    await symlink(join(root, 'keys'), join(root, 'link'));
    await symlink('/', join(root, 'all'));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const found = async (patterns: readonly string[], own: readonly string[] = []): Promise<string[]> => {
    const absolute = patterns.map((pattern) => (pattern.startsWith('*') ? pattern : join(root, pattern)));
    const works = [join(root, 'data/jail'), join(root, 'app')];
    const places = await hiddenPlaces({ patterns: absolute, own: own.map((one) => join(root, one)), works, uid: null });
    return places.flatMap(({ path, is }) => (path.startsWith(root) ? [`${is} ${path.slice(root.length + 1)}`] : []));
  };

  it.each<[string, string[], string[], string[]]>([
    ['files by a pattern of their names', ['etc/shadow*'], [], ['file etc/shadow', 'file etc/shadow-']],
    ['a directory as a whole, once', ['keys/**', 'keys/old'], [], ['directory keys']],
    ['a directory behind a link', ['link/**'], [], ['directory keys']],
    ['nothing that is not there', ['no/such', 'etc/gshadow*'], [], []],
    ['not the machine, whatever leads to it', ['all/**'], [], []],
    ['not what would have to be looked for everywhere', ['**/*.pem'], [], []],
    ['what is around the place where commands work, but for that place', [], ['data'], ['passage data']],
    ['not the place where commands work', ['data/jail/**'], [], []],
    ['what holds secrets in it', ['app/.secrets/**'], [], ['directory app/.secrets']],
  ])('is %s', async (_, patterns, own, expected) => {
    expect((await found(patterns, own)).sort()).toEqual(expected);
  });

  it('is not what the kernel shows of processes', async () => {
    const own = await hiddenPlaces({ patterns: ['/proc/*/root', '/proc/*/cwd/**'], own: [], works: [], uid: null });
    expect(own.map(({ path }) => path).filter((path) => !path.startsWith('/run/'))).toEqual([]);
  });
});
