import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { ConfigError } from './config.js';
import { readDatabaseUrl } from './database-url.js';

const directory = mkdtempSync(join(tmpdir(), 'orrery-database-url-'));
afterAll(() => rmSync(directory, { recursive: true }));

const URL_WITHOUT = 'postgres://orrery@postgres:5432/orrery';
const withFile = (content: string, url = URL_WITHOUT): string => {
  const file = join(directory, 'password');
  writeFileSync(file, content);
  return readDatabaseUrl({ ORRERY_DATABASE_URL: url, ORRERY_DATABASE_PASSWORD_FILE: file });
};

describe('readDatabaseUrl', () => {
  it('takes the URL as it is when there is no password file', () => {
    const url = 'postgres://orrery:secret@127.0.0.1/orrery';
    expect(readDatabaseUrl({ ORRERY_DATABASE_URL: url, ORRERY_DATABASE_PASSWORD_FILE: '' })).toBe(url);
  });

  it('puts the password of the file into the URL, without the end of its line', () => {
    expect(withFile('p4ss-w_rd\n')).toBe('postgres://orrery:p4ss-w_rd@postgres:5432/orrery');
    expect(withFile('new', 'postgres://orrery:old@h/d')).toBe('postgres://orrery:new@h/d');
  });

  it('keeps characters that mean something in a URL', () => {
    const password = 'a b/c:d@e?f#g%h ';
    expect(decodeURIComponent(new URL(withFile(password)).password)).toBe(password);
    expect(new URL(withFile(password)).host).toBe('postgres:5432');
  });

  it.each([
    ['no URL', () => readDatabaseUrl({ ORRERY_DATABASE_PASSWORD_FILE: '/none' })],
    [
      'a file that is not there',
      () =>
        readDatabaseUrl({ ORRERY_DATABASE_URL: URL_WITHOUT, ORRERY_DATABASE_PASSWORD_FILE: join(directory, 'none') }),
    ],
    ['an empty file', () => withFile('\n')],
  ])('refuses %s', (_, read) => {
    expect(read).toThrow(ConfigError);
  });
});
