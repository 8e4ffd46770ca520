import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { renderNatsConfig } from '#libs/embedded';
import { natsUsers } from '#libs/messaging';
import { busUsers, keepSecret, newAdminToken, newPassword, readSecret, tokenHash, writeSecret } from './index.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-keys-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const modeOf = async (file: string): Promise<number> => (await stat(file)).mode & 0o777;

describe('secret files', () => {
  it('has no secret where there is no file, and fails where a file cannot be read', async () => {
    expect(await readSecret(join(directory, 'none'))).toBeUndefined();
    await expect(readSecret(directory)).rejects.toThrow();
  });

  it('writes for this user only, leaves nothing half-written beside it, and replaces as a whole', async () => {
    const file = join(directory, 'secret');
    await writeSecret(file, 'first, which is longer');
    await writeSecret(file, 'second');
    expect(await readFile(file, 'utf8')).toBe('second\n');
    expect(await modeOf(file)).toBe(0o600);
    expect(await readdir(directory)).toEqual(['secret']);
  });

  it('makes a secret once', async () => {
    const file = join(directory, 'secret');
    const first = await keepSecret(file, newPassword);
    expect(await keepSecret(file, newPassword)).toBe(first);
    expect(newPassword()).not.toBe(first);
  });
});

describe('busUsers', () => {
  const files = () => ({
    seedFile: (user: string) => join(directory, `${user}.seed`),
    passwordFile: (user: string) => join(directory, `${user}.password`),
  });

  it('gives every user a key, and the outside world a password too, all of which a server takes', async () => {
    const users = await busUsers(natsUsers(), files());
    const keyed = users.filter((user) => 'nkeyPublic' in user);
    expect(keyed.map(({ name }) => name)).toEqual(natsUsers().map(({ name }) => name));
    expect(new Set(keyed.map(({ nkeyPublic }) => nkeyPublic)).size).toBe(keyed.length);
    expect(users.filter((user) => 'password' in user).map(({ name }) => name)).toEqual(['external']);
    const options = { serverName: 'x', port: 4222, monitorPort: 8222, storeDir: '/data' };
    expect(() => renderNatsConfig({ ...options, users })).not.toThrow();
  });

  it('finds the same keys again', async () => {
    expect(await busUsers(natsUsers(), files())).toEqual(await busUsers(natsUsers(), files()));
  });

  it('does not put a new key in the place of one that it cannot read', async () => {
    await writeFile(files().seedFile('logging'), 'not a seed');
    await expect(busUsers(natsUsers(), files())).rejects.toThrow();
    expect(await readSecret(files().seedFile('logging'))).toBe('not a seed');
  });
});

describe('the admin token', () => {
  it('is recognised by a hash that does not contain it', () => {
    const token = newAdminToken();
    expect(token).toMatch(/^ora_[A-Za-z0-9_-]{43}$/u);
    expect(tokenHash(token)).toMatch(/^[0-9a-f]{64}$/u);
    expect(tokenHash(token)).not.toBe(tokenHash(newAdminToken()));
  });
});
