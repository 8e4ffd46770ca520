import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readSecret, writeSecret } from '#libs/keys';
import { parseJson } from '#proto';
import { BusPerson } from './people-users.js';

const PRIVATE_DIR = 0o700;
const RECORD = '.json';

/** The keys of people that this directory names, in the order of their names; none when there is no directory. Each has a file of its own. */
export async function busPeopleIn(directory: string): Promise<BusPerson[]> {
  const names = await readdir(directory).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  });
  const records = names.filter((name) => name.endsWith(RECORD)).toSorted();
  const read = await Promise.all(records.map((name) => readSecret(join(directory, name))));
  return read.flatMap((text) => BusPerson.safeParse(parseJson(text ?? '')).data ?? []);
}

/** Writes down that the bus lets this key in. It does when its server has read the users anew. */
export async function keepBusPerson(directory: string, person: BusPerson): Promise<void> {
  await mkdir(directory, { recursive: true, mode: PRIVATE_DIR });
  await writeSecret(join(directory, `${person.key}${RECORD}`), JSON.stringify(person));
}

/** The other way round. */
export async function dropBusPerson(directory: string, { key }: Pick<BusPerson, 'key'>): Promise<void> {
  await rm(join(directory, `${key}${RECORD}`), { force: true });
}
