import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { chmod, mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { errorCode } from '../terminal/index.js';

const PRIVATE_FILE = 0o600;

/** Whole or not at all: who reads it while it is written sees the one before. */
export async function writeJson(file: string, value: unknown): Promise<void> {
  const unfinished = `${file}.${randomBytes(4).toString('hex')}`;
  try {
    await writeFile(unfinished, `${JSON.stringify(value, null, 2)}\n`, { mode: PRIVATE_FILE });
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}

/** Also when it exists already, with other rights. */
export async function makeDir(directory: string, mode: number): Promise<void> {
  await mkdir(directory, { recursive: true, mode });
  await chmod(directory, mode);
}

/** Throws for what is there and cannot be looked at: it must not count as absent. */
export async function isFile(path: string): Promise<boolean> {
  return (await look(path))?.isFile() ?? false;
}

export async function isDirectory(path: string): Promise<boolean> {
  return (await look(path))?.isDirectory() ?? false;
}

async function look(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
