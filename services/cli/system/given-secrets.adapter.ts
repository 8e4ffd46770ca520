import { readdir, rm } from 'node:fs/promises';
import { writeSecret } from '#libs/keys';
import { makeDir, type Home } from '../home/index.js';
import { badInput } from '../terminal/index.js';
import { addressesWithCredentials, DATABASE_URL, givenSecrets, withoutPassword } from './environment.js';

const PRIVATE_DIR = 0o700;
const DATABASE_PASSWORD = 'ORRERY_DATABASE_PASSWORD';

/**
 * What a person gave the launcher in its environment and must not be in that of any other process: each secret becomes a file
 * (0600) of the home, and what is returned names the files. One that is not given any more goes. Doing it twice changes nothing.
 * Throws CliError for an address with a user or a password, which every process that is told of it would show.
 */
export async function withSecretFiles(home: Home, env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  const [wrong] = addressesWithCredentials(env);
  if (wrong !== undefined) {
    throw badInput(`${wrong} has a user or a password in its address; leave them out, and give the key as a file.`);
  }
  const named = { ...env };
  await makeDir(home.keys, PRIVATE_DIR);
  await makeDir(home.givenSecrets, PRIVATE_DIR);
  const given = givenSecrets(env);
  const { url, password } = withoutPassword(env[DATABASE_URL] ?? '');
  if (password !== undefined) {
    named[DATABASE_URL] = url;
    given.push([DATABASE_PASSWORD, password]);
  }
  for (const [name, value] of given) {
    delete named[name];
    named[`${name}_FILE`] = home.givenSecretFile(name);
    await writeSecret(home.givenSecretFile(name), value);
  }
  const kept = new Set(Object.values(named));
  for (const name of await readdir(home.givenSecrets)) {
    const file = home.givenSecretFile(name);
    if (!kept.has(file)) await rm(file, { force: true });
  }
  return named;
}
