import { chmod, mkdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { renderContainerNatsConfig, renderContainerUsers } from '#libs/embedded';
import {
  busUsers,
  keepSecret,
  newAdminToken,
  newPassword,
  newToken,
  readSecret,
  tokenHash,
  writeSecret,
} from '#libs/keys';
import { actorsOf, busPeopleIn, natsUsers, peopleUsers, renderActors } from '#libs/messaging';
import { OWNERS, SCREENS, WITH_METRICS, WITH_DATABASE, type Say, type Secrets } from './secrets.js';

const PRIVATE_DIR = 0o700;

/** Every credential of the system, made on the first start and kept: a second run changes nothing. */
export async function makeKeys(secrets: Secrets, say: Say): Promise<void> {
  for (const owner of OWNERS) {
    await mkdir(secrets.directory(owner), { recursive: true, mode: PRIVATE_DIR });
    await chmod(secrets.directory(owner), PRIVATE_DIR);
  }
  await makeDatabasePassword(secrets);
  await makeMetricsToken(secrets);
  await makeScreenPasswords(secrets);
  const users = await busUsers(natsUsers(), secrets);
  await writeWhenChanged(secrets.actorsFile, renderActors(actorsOf(users)));
  await writeWhenChanged(secrets.natsUsersFile, renderContainerUsers(users));
  const people = peopleUsers(await busPeopleIn(secrets.peopleKeys));
  const config = renderContainerNatsConfig([...users, ...people]);
  const change = await writeWhenChanged(secrets.natsConfigFile, config);
  if (change === 'changed') say('nats.conf has changed; it counts from the step "nats" on');
  if ((await readSecret(secrets.adminTokenHashFile)) === undefined) await renewAdminToken(secrets, say);
  say(change === 'made' ? 'keys: made' : 'keys: as they were');
}

/** Told before it is kept: who is killed in between tells another one at the next start, and the last one told is valid. */
export async function renewAdminToken(secrets: Secrets, say: Say): Promise<void> {
  const token = newAdminToken();
  say(`admin token, shown only now: ${token}`);
  await writeSecret(secrets.adminTokenHashFile, tokenHash(token));
}

/** From then on it lets nobody in; people have logins of their own by then. */
export async function turnOffAdminToken(secrets: Secrets, say: Say): Promise<void> {
  await writeSecret(secrets.adminTokenHashFile, 'off');
  say('admin token: off; "admin-token" makes a new one');
}

/** What the console shows to the identity provider; false when there is nothing to keep. */
export async function keepOidcSecret({ oidcSecretFile }: Secrets, text: string, say: Say): Promise<boolean> {
  const secret = text.trim();
  say(secret === '' ? 'client secret: standard input is empty' : 'client secret: kept');
  if (secret !== '') await writeSecret(oidcSecretFile, secret);
  return secret !== '';
}

/** Services know the hash; the token itself is for who collects metrics. */
async function makeMetricsToken({ metricsTokenFile, metricsTokenHashFile }: Secrets): Promise<void> {
  const hash = tokenHash(await keepSecret(metricsTokenFile, newToken));
  for (const service of WITH_METRICS) {
    const file = metricsTokenHashFile(service);
    if ((await readSecret(file)) !== hash) await writeSecret(file, hash);
  }
}

/** Everybody who needs it has a copy in a directory of his own; the server's is the one that counts. */
async function makeDatabasePassword(secrets: Secrets): Promise<void> {
  const password = await keepSecret(secrets.databasePasswordFile('postgres'), newPassword);
  for (const owner of WITH_DATABASE) {
    const file = secrets.databasePasswordFile(owner);
    if ((await readSecret(file)) !== password) await writeSecret(file, password);
  }
}

/** Also where no device with a screen is started: what the console reads when it starts is there then. */
async function makeScreenPasswords(secrets: Secrets): Promise<void> {
  const screens: Record<string, object> = {};
  for (const [deviceId, place] of Object.entries(SCREENS)) {
    const file = secrets.screenPasswordFile('device', deviceId);
    await mkdir(dirname(file), { recursive: true, mode: PRIVATE_DIR });
    const password = await keepSecret(file, newPassword);
    const passwordFile = secrets.screenPasswordFile('console', deviceId);
    if ((await readSecret(passwordFile)) !== password) await writeSecret(passwordFile, password);
    screens[deviceId] = { ...place, passwordFile: `/secrets/${basename(passwordFile)}` };
  }
  await writeWhenChanged(secrets.screensFile, JSON.stringify(screens));
}

async function writeWhenChanged(file: string, content: string): Promise<'made' | 'changed' | 'same'> {
  const before = await readSecret(file);
  if (before === content.trim()) return 'same';
  await writeSecret(file, content);
  return before === undefined ? 'made' : 'changed';
}
