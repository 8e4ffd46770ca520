import { createHash, randomBytes } from 'node:crypto';
import { createUser, fromSeed } from '@nats-io/nkeys';
import type { NatsUser } from '#libs/embedded';
import { natsUsers } from '#libs/messaging';
import type { Home } from './home.js';
import { readSecret, writeSecret } from './whole-file.adapter.js';

const PASSWORD_BYTES = 24;
const TOKEN_BYTES = 32;
const ADMIN_TOKEN_PREFIX = 'ora_';

/** The users of the bus with the keys of this home; a seed that is missing is made. The server only learns the public parts. */
export async function busUsers(home: Home): Promise<NatsUser[]> {
  return Promise.all(
    natsUsers().map(async (user) => ({ ...user, nkeyPublic: await publicKeyOf(home.seedFile(user.name)) })),
  );
}

async function publicKeyOf(seedFile: string): Promise<string> {
  const seed = await readSecret(seedFile);
  if (seed !== undefined) return fromSeed(new TextEncoder().encode(seed)).getPublicKey();
  const user = createUser();
  await writeSecret(seedFile, new TextDecoder().decode(user.getSeed()));
  return user.getPublicKey();
}

/** Made with the database; later it has to be the same. */
export async function databasePassword(home: Home): Promise<string> {
  const file = home.secretFile('postgres.password');
  const known = await readSecret(file);
  if (known !== undefined) return known;
  const password = randomBytes(PASSWORD_BYTES).toString('base64url');
  await writeSecret(file, password);
  return password;
}

export const ADMIN_TOKEN_HASH = 'admin-token.sha256';

/** A new administrator's token on the first start, else undefined: only its hash is kept, so it can be shown once only. */
export async function newAdminToken(home: Home): Promise<string | undefined> {
  const file = home.secretFile(ADMIN_TOKEN_HASH);
  if ((await readSecret(file)) !== undefined) return undefined;
  const token = `${ADMIN_TOKEN_PREFIX}${randomBytes(TOKEN_BYTES).toString('base64url')}`;
  await writeSecret(file, createHash('sha256').update(token).digest('hex'));
  return token;
}
