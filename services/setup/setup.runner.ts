import type { NatsConnection } from '@nats-io/transport-node';
import { renewContainerNats } from '#libs/embedded';
import { provision } from '#libs/messaging';
import { withSetupBus } from './bus.client.js';
import { admitDevices, renewDevice } from './devices.runner.js';
import { keepOidcSecret, makeKeys, renewAdminToken, turnOffAdminToken } from './keys.runner.js';
import { secretsAt, type Say } from './secrets.js';
import { readSetupConfig } from './setup.config.js';

const HELP = `Prepares a system of containers. Every step can be repeated.

  keys         make what is missing of the credentials, and nats.conf
  nats         let nats-server read nats.conf when it has changed (from within the pid namespace of its container)
  streams      make the streams, durables and buckets (needs NATS)
  devices      admit the devices of ORRERY_SETUP_DEVICES, such as "web-1:web db-1:db" (needs the registry)
  device-token <id>  a new join token for one that lost its volume, or was revoked; restart its container then
  admin-token  make a new admin token, for the first person; the console takes it within seconds
  admin-token --off  let nobody in by it any more: people have tokens or logins of their own
  oidc-secret  keep what standard input says as the console's client secret at the identity provider

ORRERY_SECRETS_DIR is the directory of credentials (default /secrets).`;
const OK = 0;
const BAD_INPUT = 3;

export interface SetupSurroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly say: Say;
  /** All of standard input. */
  readonly input: () => Promise<string>;
}

/** Does one step; resolves with the exit code. */
export async function runSetup(words: readonly string[], { env, say, input }: SetupSurroundings): Promise<number> {
  const { secretsDir, natsUrl: url, natsMonitorUrl, devices: wishes } = readSetupConfig(env);
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
    case 'oidc-secret':
      return (await keepOidcSecret(secrets, await input(), say)) ? OK : BAD_INPUT;
    case 'nats': {
      const changed = await renewContainerNats({ directory: secrets.directory('nats'), monitorUrl: natsMonitorUrl });
      say(`nats.conf: ${changed ? 'read anew' : 'as it was read'}`);
      return OK;
    }
    case 'streams':
      await withSetupBus(as('admin'), (nc) => provisionBus(nc, say));
      return OK;
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
