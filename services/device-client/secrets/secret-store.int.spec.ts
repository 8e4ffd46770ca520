import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SecretStore } from './secret-store.adapter.js';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'orrery-secrets-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

async function put(name: string, value: string, mode = 0o600): Promise<void> {
  await writeFile(join(dir, name), value);
  await chmod(join(dir, name), mode);
}

describe('the secrets of a device', () => {
  it('are the files of the directory, by their names', async () => {
    await put('db-password', 'canary-1\n');
    await put('api_key', 'canary-2', 0o400);
    const store = await SecretStore.open(dir);
    expect(store.names).toEqual(['api_key', 'db-password']);
    expect(store.valueOf('db-password')).toBe('canary-1');
    expect(store.valueOf('other')).toBeUndefined();
  });

  it('are read again, and what they were before is still kept out', async () => {
    await put('key', 'canary-old');
    const store = await SecretStore.open(dir);
    await put('key', 'canary-new');
    const redactor = await store.refresh();
    expect(store.valueOf('key')).toBe('canary-new');
    expect(redactor?.text('canary-old canary-new')).toBe('[secret:key] [secret:key]');
    await rm(join(dir, 'key'));
    await store.refresh();
    expect(store.names).toEqual([]);
    expect(store.redactor?.text('canary-new')).toBe('[secret:key]');
  });

  it('may come later, and then it is said which, and what cannot be one, each once and without a value', async () => {
    const store = await SecretStore.open(dir);
    const said: string[] = [];
    const say = (...words: unknown[]): void => void said.push(JSON.stringify(words));
    store.tellTo({ info: say, warn: say });
    await put('late', 'canary-1');
    await put('open', 'canary-2', 0o644);
    for (let times = 0; times < 2; times++) await store.refresh();
    expect(store.names).toEqual(['late']);
    expect(said).toEqual([
      '[{"file":"open","why":"can be read by others; it must have the mode 600 or 400"},"a secret cannot be used"]',
      '[{"secret":"late"},"a secret is new"]',
    ]);
  });

  it('have no value for as long as others can read them', async () => {
    await put('key', 'canary-1');
    const wrong: object[] = [];
    const store = SecretStore.at(dir, (found) => wrong.push(found));
    await chmod(join(dir, 'key'), 0o644);
    await store.refresh();
    expect(store.valueOf('key')).toBeUndefined();
    expect(wrong).toEqual([{ file: 'key', why: 'can be read by others; it must have the mode 600 or 400' }]);
    await chmod(join(dir, 'key'), 0o600);
    await store.refresh();
    expect(store.valueOf('key')).toBe('canary-1');
  });

  it.each<[string, () => Promise<unknown>, string]>([
    [
      'a file that others can read',
      () => put('key', 'canary-1', 0o640),
      'key can be read by others; it must have the mode 600 or 400.',
    ],
    [
      'a short value',
      () => put('key', '12345'),
      'key has fewer than 6 characters, too few to be told from other text.',
    ],
    ['a link', () => symlink('/etc/passwd', join(dir, 'key')), 'key is a link; it must be a regular file.'],
    ['a directory', () => mkdir(join(dir, 'key')), 'key is not a regular file.'],
    [
      'a name that is none',
      () => put('a b', 'canary-1'),
      'a b cannot be a secret: the name of a secret is 1 to 64 letters, digits, _ or -.',
    ],
  ])('are refused at the start with %s', async (_, make, sentence) => {
    await make();
    await expect(SecretStore.open(dir)).rejects.toThrow(`--secrets: ${dir}/${sentence}`);
  });

  it('are refused from a directory that others can write to, or that is not there', async () => {
    await chmod(dir, 0o777);
    await expect(SecretStore.open(dir)).rejects.toThrow('nobody else may write to it.');
    await expect(SecretStore.open('/no/such')).rejects.toThrow(
      '--secrets: the directory /no/such cannot be read (ENOENT).',
    );
  });
});
