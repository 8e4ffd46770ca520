import {
  busUsers,
  keepSecret,
  keyOf,
  newAdminToken,
  newPassword,
  readSecret,
  tokenHash,
  writeSecret,
} from '#libs/keys';
import type { NatsUser } from '#libs/embedded';
import { actorsOf, busPeopleIn, natsUsers, peopleUsers } from '#libs/messaging';
import type { Actor } from '#proto';
import { ADMIN_TOKEN_HASH, type Home } from '../home/index.js';

/** The users of the bus, with the keys of this home: those of the installation itself, then people and other systems. */
export async function busUsersOf(home: Home): Promise<NatsUser[]> {
  const own = await busUsers(natsUsers(), {
    seedFile: home.seedFile,
    passwordFile: (user) => home.secretFile(`${user}.password`),
  });
  return [...own, ...peopleUsers(await busPeopleIn(home.peopleKeys))];
}

/** Whom the keys of this home stand for; on a bus that is not ours, everybody is the operator with the one key there is. */
export async function actorsOfKeys(home: Home, foreignSeedFile?: string): Promise<ReadonlyMap<string, Actor>> {
  if (foreignSeedFile === undefined) return actorsOf(await busUsersOf(home));
  return actorsOf([{ name: 'cli', nkeyPublic: await keyOf(foreignSeedFile) }]);
}

/** File of the home's keys with the password of its database. */
export const DATABASE_PASSWORD = 'postgres.password';

/** Made with the database; later it has to be the same. */
export function databasePassword(home: Home): Promise<string> {
  return keepSecret(home.secretFile(DATABASE_PASSWORD), newPassword);
}

/** A new administrator's token on the first start, else undefined: only its hash is kept, so it can be shown once only. */
export async function firstAdminToken(home: Home): Promise<string | undefined> {
  const file = home.secretFile(ADMIN_TOKEN_HASH);
  if ((await readSecret(file)) !== undefined) return undefined;
  const token = newAdminToken();
  await writeSecret(file, tokenHash(token));
  return token;
}
