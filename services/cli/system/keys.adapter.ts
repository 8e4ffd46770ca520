import { busUsers, keepSecret, newAdminToken, newPassword, readSecret, tokenHash, writeSecret } from '#libs/keys';
import type { NatsUser } from '#libs/embedded';
import { ADMIN_TOKEN_HASH, type Home } from './home.js';

/** The users of the bus, with the keys of this home. */
export function busUsersOf(home: Home): Promise<NatsUser[]> {
  return busUsers({ seedFile: home.seedFile, passwordFile: (user) => home.secretFile(`${user}.password`) });
}

/** Made with the database; later it has to be the same. */
export function databasePassword(home: Home): Promise<string> {
  return keepSecret(home.secretFile('postgres.password'), newPassword);
}

/** A new administrator's token on the first start, else undefined: only its hash is kept, so it can be shown once only. */
export async function firstAdminToken(home: Home): Promise<string | undefined> {
  const file = home.secretFile(ADMIN_TOKEN_HASH);
  if ((await readSecret(file)) !== undefined) return undefined;
  const token = newAdminToken();
  await writeSecret(file, tokenHash(token));
  return token;
}
