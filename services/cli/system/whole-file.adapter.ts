import { randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { errorCode } from '../errors.js';

const PRIVATE_FILE = 0o600;

/** Whole or not at all: who reads it while it is written sees the one before. */
export async function writeJson(file: string, value: unknown): Promise<void> {
  const unfinished = `${file}.${randomBytes(4).toString('hex')}`;
  await writeFile(unfinished, `${JSON.stringify(value, null, 2)}\n`, { mode: PRIVATE_FILE });
  await rename(unfinished, file);
}

export async function writeSecret(file: string, secret: string): Promise<void> {
  const unfinished = `${file}.${randomBytes(4).toString('hex')}`;
  await writeFile(unfinished, `${secret}\n`, { mode: PRIVATE_FILE, flag: 'wx' });
  await rename(unfinished, file);
}

/** Undefined when there is none. */
export async function readSecret(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Also when it exists already, with other rights. */
export async function makeDir(directory: string, mode: number): Promise<void> {
  await mkdir(directory, { recursive: true, mode });
  await chmod(directory, mode);
}
