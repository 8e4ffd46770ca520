import { createUser } from '@nats-io/nkeys';
import type { NatsUser } from '#libs/embedded';
import { newPassword } from './generate.js';
import { signerOf } from './nkey.js';
import { keepSecret } from './secret-file.adapter.js';

/** Clients of other systems may have nothing but a socket: these users may also come with a password. */
const WITH_PASSWORD: readonly string[] = ['external'];

/** A user as far as it does not depend on keys. */
export type BusUser = Omit<NatsUser, 'nkeyPublic' | 'password'>;

/** Where the credentials of a user of the bus lie. */
export interface BusKeyFiles {
  readonly seedFile: (user: string) => string;
  readonly passwordFile: (user: string) => string;
}

/** The users of the bus as its server has to know them: public keys and passwords. What is missing is made and kept. */
export async function busUsers(
  known: readonly BusUser[],
  { seedFile, passwordFile }: BusKeyFiles,
): Promise<NatsUser[]> {
  const users = await allOf(
    known.map(async (user): Promise<NatsUser[]> => {
      const withKey = withOwnSubjects({ ...user, nkeyPublic: await keyOf(seedFile(user.name)) });
      if (!WITH_PASSWORD.includes(user.name)) return [withKey];
      return [withKey, { ...user, password: await keepSecret(passwordFile(user.name), newPassword) }];
    }),
  );
  return users.flat();
}

/** Where whoever has nothing but a key listens for answers: the name of its user is known to the server only. */
export const inboxOf = (key: string): string => `_INBOX_${key}`;

/** Stands in subjects for the key of the user. */
export const OWN_KEY = '<key>';

/** Lets a user listen where only who has its key may, and write there. */
export function withOwnSubjects<U extends BusUser & { readonly nkeyPublic: string }>(user: U): U {
  const { nkeyPublic: key, outside } = user;
  const own = (subject: string): string => subject.replace(OWN_KEY, key);
  const services = outside?.services.map((service) => ({ ...service, subject: own(service.subject) }));
  return {
    ...user,
    ...(outside === undefined ? {} : { outside: { ...outside, services } }),
    publish: user.publish.map(own),
    subscribe: [...user.subscribe, `${inboxOf(key)}.>`],
  };
}

/** The public key of the seed in this file; the seed never leaves it. */
export async function keyOf(seedFile: string): Promise<string> {
  const seed = await keepSecret(seedFile, () => new TextDecoder().decode(createUser().getSeed()));
  return signerOf(seed).key;
}

/** All of them, or the first failure once none is at work any more: nobody writes keys behind the back of who was told no. */
async function allOf<T>(work: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(work);
  return Promise.all(work);
}
