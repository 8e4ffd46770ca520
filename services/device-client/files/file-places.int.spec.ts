import { execFileSync } from 'node:child_process';
import { chown, mkdir, mkdtemp, open, readFile, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { diskFailure } from './file-link.client.js';
import { FilePlaces } from './file-places.adapter.js';
import { FileTarget } from './file-target.adapter.js';

let dir: string;
let jail: string;
let places: FilePlaces;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'orrery-places-'));
  jail = join(dir, 'jail');
  await mkdir(join(jail, 'sub'), { recursive: true });
  await mkdir(join(dir, 'allowed'));
  await mkdir(join(dir, 'secret'));
  await writeFile(join(jail, 'in.txt'), 'inside');
  await writeFile(join(dir, 'allowed', 'ok.txt'), 'allowed');
  await writeFile(join(dir, 'secret', 'key'), 'secret');
  places = new FilePlaces({ jailDir: jail, allowed: [join(dir, 'allowed')] });
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const DIR = (text: string): string => text.replaceAll('DIR', dir);

async function read(path: string): Promise<string> {
  const { handle } = await places.openFile(DIR(path));
  try {
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

async function write(path: string, text: string, overwrite = false, mode = 0o640): Promise<string> {
  const place = await places.openPlace(DIR(path));
  try {
    await place.occupant();
    const failures: unknown[] = [];
    const events = { taken: () => undefined, failed: (error: unknown) => failures.push(error) };
    const target = await FileTarget.open({ place, mode, overwrite, ...events });
    target.write(Buffer.from(text));
    await target.commit().catch(async (error: unknown) => {
      await target.discard();
      throw error;
    });
    return place.path;
  } finally {
    await place.close();
  }
}

const OUTSIDE = /is outside of the directories/u;

describe('a file is read', () => {
  it.each([
    ['in.txt', 'inside'],
    ['sub/../in.txt', 'inside'],
    ['DIR/jail/in.txt', 'inside'],
    ['DIR/allowed/ok.txt', 'allowed'],
  ])('at %s', async (path, text) => expect(await read(path)).toBe(text));

  it('through a link that stays inside', async () => {
    await symlink('../in.txt', join(jail, 'sub', 'link'));
    expect(await read('sub/link')).toBe('inside');
  });

  it.each([
    '../secret/key',
    'DIR/secret/key',
    '/etc/passwd',
    'sub/../../secret/key',
    'DIR/jail-not',
    'DIR/allowed/../secret/key',
  ])('never at %s', async (path) => expect(read(path)).rejects.toThrow(OUTSIDE));

  it.each([
    ['a link to a file outside', 'DIR/secret/key', 'link'],
    ['a directory that is a link', 'DIR/secret', 'link/key'],
    ['a link to a link', 'DIR/jail/hop', 'link'],
  ])('never through %s', async (_, to, path) => {
    await symlink(join(dir, 'secret', 'key'), join(jail, 'hop'));
    await symlink(DIR(to), join(jail, 'link'));
    await expect(read(path)).rejects.toThrow(OUTSIDE);
  });

  it('never from what is no regular file, and without waiting for it', async () => {
    execFileSync('mkfifo', [join(jail, 'pipe')]);
    await expect(read('pipe')).rejects.toThrow('pipe is not a regular file');
    await expect(read('sub')).rejects.toThrow('sub is not a regular file');
    await expect(read('nowhere')).rejects.toThrow('There is no file nowhere');
  });
});

describe('a file is written', () => {
  it.each(['new.txt', 'a/b/c.txt', 'DIR/allowed/x/y'])('at %s', async (path) => {
    const at = await write(path, 'text');
    expect(await readFile(at, 'utf8')).toBe('text');
    expect((await places.openFile(at)).path).toBe(at);
  });

  it('with its permissions, and with no other name left over', async () => {
    const at = await write('new.txt', 'text');
    expect(execFileSync('stat', ['-c', '%a', at]).toString().trim()).toBe('640');
    expect((await readdir(jail)).sort()).toEqual(['in.txt', 'new.txt', 'sub']);
  });

  it('over another one only when that is said', async () => {
    await expect(write('in.txt', 'other')).rejects.toThrow('in.txt is there already');
    expect(await read('in.txt')).toBe('inside');
    expect((await readdir(jail)).sort()).toEqual(['in.txt', 'sub']);
    await write('in.txt', 'other', true);
    expect(await read('in.txt')).toBe('other');
  });

  it('in the place of a link, and not where that leads', async () => {
    await symlink(join(dir, 'secret', 'key'), join(jail, 'link'));
    await write('link', 'other', true);
    expect(await readFile(join(dir, 'secret', 'key'), 'utf8')).toBe('secret');
    expect(await read('link')).toBe('other');
  });

  it.each(['../secret/new', 'DIR/secret/new', 'DIR/secret/new/deep', '/etc/orrery-test', 'sub/../../secret/new'])(
    'never at %s',
    async (path) => {
      await expect(write(path, 'x')).rejects.toThrow(OUTSIDE);
      expect(await readdir(join(dir, 'secret'))).toEqual(['key']);
    },
  );

  it.each([
    ['a directory that is a link', 'DIR/secret', 'link/new'],
    ['a directory that is a link, and further down', 'DIR/secret', 'link/deep/new'],
    ['a link that leads up', '..', 'link/secret/new'],
  ])('never through %s', async (_, to, path) => {
    await symlink(DIR(to), join(jail, 'link'));
    await expect(write(path, 'x')).rejects.toThrow(OUTSIDE);
    expect(await readdir(join(dir, 'secret'))).toEqual(['key']);
  });

  it('where it was allowed, although the directory becomes a link meanwhile', async () => {
    const place = await places.openPlace('sub/new');
    await rename(join(jail, 'sub'), join(jail, 'moved'));
    await symlink(join(dir, 'secret'), join(jail, 'sub'));
    const events = { taken: () => undefined, failed: () => undefined };
    const target = await FileTarget.open({ place, mode: 0o600, overwrite: false, ...events });
    target.write(Buffer.from('x'));
    await target.commit();
    await place.close();
    expect(await readdir(join(jail, 'moved'))).toEqual(['new']);
    expect(await readdir(join(dir, 'secret'))).toEqual(['key']);
  });

  it.each([
    ['the jail itself', '.', /names a directory/u],
    ['a directory', 'sub', /is not a regular file/u],
    ['a name with a slash at its end', 'new/', /names a directory/u],
    ['a file as a directory', 'in.txt/new', /is not a directory/u],
  ])('never as %s', async (_, path, message) => expect(write(path, 'x', true)).rejects.toThrow(message));

  it('not at all when it is given up: nothing of it stays', async () => {
    const place = await places.openPlace('a/new');
    const events = { taken: () => undefined, failed: () => undefined };
    const target = await FileTarget.open({ place, mode: 0o600, overwrite: false, ...events });
    target.write(Buffer.alloc(1_000_000));
    await target.discard();
    await place.close();
    expect(await readdir(join(jail, 'a'))).toEqual([]);
  });

  it('never when the disk is full, and says so', async () => {
    // What a write to this device says is what a full disk says.
    const openTemporary = async () => ({ handle: await open('/dev/full', 'w'), name: 'full' });
    const removed: string[] = [];
    const remove = async (name: string) => void removed.push(name);
    const place = { openTemporary, remove, take: () => Promise.reject(new Error('it is not whole')) };
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const options = { place, mode: 0o600, overwrite: false, taken: () => undefined, failed: resolve };
    const target = await FileTarget.open(options);
    target.write(Buffer.alloc(10));
    expect(diskFailure(await promise)).toEqual({
      code: 'DISK_FAILED',
      message: 'the disk of the device: no space is left on the disk',
    });
    await target.discard();
    expect(removed).toEqual(['full']);
  });
});

const asRoot = process.geteuid?.() === 0 ? it : it.skip;

asRoot('what a client that is root writes into the jail is of whom the jail is, elsewhere its own', async () => {
  await chown(jail, 65_533, 65_533);
  await writeFile(join(dir, 'allowed', 'ok.txt'), 'old');
  for (const path of ['new/deep/file', 'in.txt', 'DIR/allowed/ok.txt']) await write(path, 'text', true);
  const owner = async (path: string): Promise<number> => (await stat(path)).uid;
  const made = ['new', 'new/deep', 'new/deep/file', 'in.txt'].map((path) => join(jail, path));
  expect(await Promise.all(made.map(owner))).toEqual([65_533, 65_533, 65_533, 65_533]);
  expect(await Promise.all(['sub', '../allowed/ok.txt'].map((path) => owner(join(jail, path))))).toEqual([0, 0]);
});
