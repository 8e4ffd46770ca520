// nats-server in a container of its own: how it is configured there, and how it hears of other users.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { EmbeddedServerError } from './errors.js';
import { renderNatsConfig, type NatsUser } from './nats-config.js';
import { changeNatsConfig, reloadWhenChanged, type RunningNats } from './nats-reload.runner.js';

/** Only other containers can reach it there; what is published on the host is written in docker-compose.yml. */
const SITE = { serverName: 'orrery', host: '0.0.0.0', port: 4222, monitorPort: 8222, storeDir: '/data' };
/** The init of its container, which hands signals on. */
const FIRST_PROCESS = 1;

/** What its directory holds: the configuration, and the users in it that are of the installation itself. */
export const CONTAINER_NATS_FILES = { config: 'nats.conf', users: 'users.json' } as const;

export const renderContainerNatsConfig = (users: readonly NatsUser[]): string => renderNatsConfig({ ...SITE, users });

/** The users of the installation itself as who shares the server's directory may know them: what is in its configuration. */
export const renderContainerUsers = (users: readonly NatsUser[]): string => JSON.stringify(users, null, 2);

/** What may be in a configuration is checked where it is rendered. */
const Users = z.array(z.custom<NatsUser>((user) => typeof user === 'object' && user !== null && 'name' in user));

/** Where its directory is, and its HTTP monitoring, for who runs in the pid namespace of its container, as the same user. */
export interface ContainerNats {
  readonly directory: string;
  readonly monitorUrl: string;
}

/** Lets the server know these users, too, beside those of the installation itself; throws when it does not take them. */
export async function reloadContainerNats(
  nats: ContainerNats,
  others: () => Promise<readonly NatsUser[]>,
): Promise<void> {
  const file = join(nats.directory, CONTAINER_NATS_FILES.users);
  const own = Users.safeParse(JSON.parse(await readFile(file, 'utf8'))).data;
  if (own === undefined) throw new EmbeddedServerError(`${file} does not hold the users of the bus.`);
  await changeNatsConfig(serverOf(nats), async () => renderContainerNatsConfig([...own, ...(await others())]));
}

/** Lets the server read its configuration when that has changed since it did; whether it had. */
export const renewContainerNats = (nats: ContainerNats): Promise<boolean> => reloadWhenChanged(serverOf(nats));

const serverOf = ({ directory, monitorUrl }: ContainerNats): RunningNats => ({
  pid: FIRST_PROCESS,
  configFile: join(directory, CONTAINER_NATS_FILES.config),
  monitorUrl,
  log: 'the log of its container',
});
