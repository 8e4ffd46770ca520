import { randomBytes } from 'node:crypto';
import { chmod, mkdir, rename, writeFile } from 'node:fs/promises';

const PRIVATE_FILE = 0o600;

/** Whole or not at all: who reads it while it is written sees the one before. */
export async function writeJson(file: string, value: unknown): Promise<void> {
  const unfinished = `${file}.${randomBytes(4).toString('hex')}`;
  await writeFile(unfinished, `${JSON.stringify(value, null, 2)}\n`, { mode: PRIVATE_FILE });
  await rename(unfinished, file);
}

/** Also when it exists already, with other rights. */
export async function makeDir(directory: string, mode: number): Promise<void> {
  await mkdir(directory, { recursive: true, mode });
  await chmod(directory, mode);
}
