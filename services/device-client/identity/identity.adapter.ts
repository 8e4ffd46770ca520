import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { parseDeviceSecret, readSecret, writeSecret } from '#libs/keys';
import { InputError } from '../faults/index.js';
import { KeptIdentity, NOBODY } from './identity.js';

const FILE = 'identity.json';

/** What the data directory says of who this device is. Throws InputError when that cannot be read. */
export async function readIdentity(dataDir: string): Promise<KeptIdentity> {
  const file = join(dataDir, FILE);
  const text = await readSecret(file);
  if (text === undefined) return NOBODY;
  try {
    const kept = KeptIdentity.parse(JSON.parse(text));
    for (const key of [kept.joined, kept.joining]) if (key !== null) parseDeviceSecret(JSON.stringify(key.secret));
    return kept;
  } catch (cause) {
    // What is wrong with it could be a part of the key.
    throw new InputError(`${file} is damaged. Move it away, and join again with a new token.`, { cause });
  }
}

/** Resolves when it is on the disk, name and all. */
export async function writeIdentity(dataDir: string, kept: KeptIdentity): Promise<void> {
  await writeSecret(join(dataDir, FILE), JSON.stringify(kept));
  const directory = await open(dataDir);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
