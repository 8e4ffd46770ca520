import { randomBytes } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';

const PRIVATE_FILE = 0o600;

/** Without the line end; undefined when there is no such file. */
export async function readSecret(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Whole or not at all, also after a power cut: half a key would lock everybody out for ever. */
export async function writeSecret(file: string, secret: string): Promise<void> {
  const unfinished = `${file}.${randomBytes(4).toString('hex')}`;
  const handle = await open(unfinished, 'wx', PRIVATE_FILE);
  try {
    await handle.writeFile(`${secret}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(unfinished, file);
}

/** The secret of this file; made once, the same ever after. */
export async function keepSecret(file: string, make: () => string): Promise<string> {
  const kept = await readSecret(file);
  if (kept !== undefined) return kept;
  const made = make();
  await writeSecret(file, made);
  return made;
}

function isMissing(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT';
}
