import { rm } from 'node:fs/promises';
import { reloadNats } from '#libs/embedded';
import { keyOf, readSecret } from '#libs/keys';
import { busPeopleIn, dropBusPerson, keepBusPerson, type BusPerson } from '#libs/messaging';
import { homeOf, makeDir, type Home } from '../../home/index.js';
import { busUsersOf } from '../../system/index.js';
import { badInput, type CliContext } from '../../terminal/index.js';

const PRIVATE_DIR = 0o700;

/** The home whose bus is ours to change; undefined for a bus that runs elsewhere. */
export function homeOfBus({ env }: Pick<CliContext, 'env'>): Home | undefined {
  return (env['ORRERY_NATS_URL'] ?? '') === '' ? homeOf(env) : undefined;
}

/** The public key in the person's own file, which is made with a new key when it is not there. */
export async function ownKey(context: Pick<CliContext, 'env'>, id: string): Promise<{ key: string; seedFile: string }> {
  const home = homeOfBus(context);
  if (home === undefined) {
    throw badInput(
      'A key is made where the bus runs. Here, give the public half of one that was made elsewhere: --public-key.',
    );
  }
  await makeDir(home.peopleKeys, PRIVATE_DIR);
  const seedFile = home.personSeedFile(id);
  return { key: await keyOf(seedFile), seedFile };
}

/** The bus lets the key in from now on. Whether it does is decided where it runs: false when that is elsewhere. */
export async function letIn(context: Pick<CliContext, 'env'>, person: BusPerson): Promise<boolean> {
  const home = homeOfBus(context);
  if (home === undefined) return false;
  await keepBusPerson(home.peopleKeys, person);
  await reloadNats(home.nats, await busUsersOf(home));
  return true;
}

/** The bus lets these keys in no more, and their connections end. */
export async function keepOut(
  context: Pick<CliContext, 'env'>,
  which: (person: BusPerson) => boolean,
): Promise<boolean> {
  const home = homeOfBus(context);
  if (home === undefined) return false;
  const known = (await busPeopleIn(home.peopleKeys)).filter(which);
  for (const person of known) {
    await dropBusPerson(home.peopleKeys, person);
    const seedFile = home.personSeedFile(person.id);
    if ((await readSecret(seedFile)) !== undefined && (await keyOf(seedFile)) === person.key) await rm(seedFile);
  }
  await reloadNats(home.nats, await busUsersOf(home));
  return true;
}
