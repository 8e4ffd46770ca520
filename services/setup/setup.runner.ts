import type { NatsConnection } from '@nats-io/transport-node';
import { provision } from '#libs/messaging';
import { withSetupBus } from './bus.client.js';
import { admitDevices, renewDevice } from './devices.runner.js';
import { makeKeys, renewAdminToken, turnOffAdminToken } from './keys.runner.js';
import { secretsAt, type Say } from './secrets.js';
import { readSetupConfig } from './setup.config.js';

const HELP = `Prepares a system of containers. Every step can be repeated.

  keys         make what is missing of the credentials, and nats.conf
  streams      make the streams, durables and buckets (needs NATS)
  devices      admit the devices of ORRERY_SETUP_DEVICES, such as "web-1:web db-1:db" (needs the registry)
  device-token <id>  a new join token for one that lost its volume, or was revoked; restart its container then
  admin-token  make a new admin token, for the first person; the console takes it within seconds
  admin-token --off  let nobody in by it any more: people have tokens or logins of their own

ORRERY_SECRETS_DIR is the directory of credentials (default /secrets).`;
const OK = 0;
const BAD_INPUT = 3;

/** Does one step; resolves with the exit code. */
export async function runSetup(
  words: readonly string[],
  { env, say }: { env: NodeJS.ProcessEnv; say: Say },
): Promise<number> {
  const { secretsDir, natsUrl: url, devices: wishes } = readSetupConfig(env);
  const secrets = secretsAt(secretsDir);
  const as = (user: string) => ({ url, user, seedFile: secrets.seedFile(user) });
  const [step, deviceId] = words;
  if (step === 'device-token' && deviceId !== undefined && words.length === 2) {
    await withSetupBus(as('cli'), (nc) => renewDevice(nc, { deviceId, directory: secrets.directory('devices'), say }));
    return OK;
  }
  switch (words.join(' ')) {
    case 'keys':
      await makeKeys(secrets, say);
      return OK;
    case 'admin-token':
      await renewAdminToken(secrets, say);
      return OK;
    case 'admin-token --off':
      await turnOffAdminToken(secrets, say);
      return OK;
    case 'streams': {
      await withSetupBus(as('admin'), (nc) => provisionBus(nc, say));
      return OK;
    }
    case 'devices':
      await withSetupBus(as('cli'), (nc) => admitDevices(nc, { wishes, directory: secrets.directory('devices'), say }));
      return OK;
    case '--help':
      say(HELP);
      return OK;
    default:
      say(HELP);
      return BAD_INPUT;
  }
}

async function provisionBus(nc: NatsConnection, say: Say): Promise<void> {
  const { created, updated } = await provision(nc);
  const changed = created.length + updated.length > 0;
  say(`streams: ${changed ? `${created.length} made, ${updated.length} changed` : 'as they have to be'}`);
}
