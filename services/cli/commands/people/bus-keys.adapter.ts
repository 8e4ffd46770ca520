import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { reloadContainerNats, reloadNats } from '#libs/embedded';
import { keyOf, readSecret } from '#libs/keys';
import { busPeopleIn, dropBusPerson, keepBusPerson, peopleUsers, type BusPerson } from '#libs/messaging';
import { homeOf } from '../../home/index.js';
import { busUsersOf } from '../../system/index.js';
import { badInput, type CliContext } from '../../terminal/index.js';

const PRIVATE_DIR = 0o700;

type Surroundings = Pick<CliContext, 'env'>;

/** A bus whose users are ours to change. */
interface Door {
  /** Who is let in, a file each; and the keys that were made here. */
  readonly people: string;
  /** Lets the server read anew who that is. */
  readonly reload: () => Promise<unknown>;
}

/** Of the home, or in containers of the volume of secrets; undefined for a bus that runs elsewhere. */
function doorOf({ env }: Surroundings): Door | undefined {
  const secrets = env['ORRERY_BUS_SECRETS_DIR'] ?? '';
  if (secrets !== '') {
    const people = join(secrets, 'people');
    const server = { directory: join(secrets, 'nats'), monitorUrl: env['ORRERY_NATS_MONITOR_URL'] ?? '' };
    return { people, reload: () => reloadContainerNats(server, async () => peopleUsers(await busPeopleIn(people))) };
  }
  if ((env['ORRERY_NATS_URL'] ?? '') !== '') return undefined;
  const home = homeOf(env);
  return { people: home.peopleKeys, reload: () => reloadNats(home.nats, () => busUsersOf(home)) };
}

const seedFileOf = ({ people }: Door, id: string): string => join(people, `${id}.seed`);

/** The public key in the person's own file, which is made with a new key when it is not there. */
export async function ownKey(context: Surroundings, id: string): Promise<{ key: string; seedFile: string }> {
  const door = doorOf(context);
  if (door === undefined) {
    throw badInput(
      'A key is made where the bus runs. Here, give the public half of one that was made elsewhere: --public-key.',
    );
  }
  await mkdir(door.people, { recursive: true, mode: PRIVATE_DIR });
  const seedFile = seedFileOf(door, id);
  return { key: await keyOf(seedFile), seedFile };
}

/** The bus lets the key in from now on. Whether it does is decided where it runs: false when that is elsewhere. */
export async function letIn(context: Surroundings, person: BusPerson): Promise<boolean> {
  const door = doorOf(context);
  if (door === undefined) return false;
  await keepBusPerson(door.people, person);
  await door.reload();
  return true;
}

/** The bus takes so many connections of this system at a time, of all its keys. False when that is decided elsewhere. */
export async function connectionsOf(context: Surroundings, id: string, connections: number): Promise<boolean> {
  const door = doorOf(context);
  if (door === undefined) return false;
  const known = (await busPeopleIn(door.people)).filter((person) => person.id === id);
  for (const person of known) await keepBusPerson(door.people, { ...person, connections });
  await door.reload();
  return true;
}

/** The bus lets these keys in no more, and their connections end. */
export async function keepOut(context: Surroundings, which: (person: BusPerson) => boolean): Promise<boolean> {
  const door = doorOf(context);
  if (door === undefined) return false;
  const known = (await busPeopleIn(door.people)).filter(which);
  for (const person of known) {
    await dropBusPerson(door.people, person);
    const seedFile = seedFileOf(door, person.id);
    if ((await readSecret(seedFile)) !== undefined && (await keyOf(seedFile)) === person.key) await rm(seedFile);
  }
  await door.reload();
  return true;
}
