import { join, resolve } from 'node:path';

/** The SHA-256 of the administrator's token: the console lets in who knows the token. */
export const ADMIN_TOKEN_HASH = 'admin-token.sha256';

/** Where everything of one embedded system lies. Two systems are two of these. */
export type Home = Readonly<ReturnType<typeof homeAt>>;

interface HomeOwner {
  readonly uid: number | undefined;
  readonly directory: string;
}

/** ORRERY_HOME; without it `~/.orrery`, for root `/var/lib/orrery`: PostgreSQL runs as another user, which may not enter /root. */
export function homeDirOf(env: NodeJS.ProcessEnv, { uid, directory }: HomeOwner): string {
  const named = env['ORRERY_HOME'] ?? '';
  if (named !== '') return resolve(named);
  return uid === 0 ? '/var/lib/orrery' : join(directory, '.orrery');
}

export function homeAt(root: string) {
  const keys = join(root, 'keys');
  const logs = join(root, 'logs');
  const devices = join(root, 'devices');
  const deviceDir = (deviceId: string): string => join(devices, deviceId);
  return {
    root,
    keys,
    logs,
    devices,
    /** What agents may do on devices; the operator writes it, or the built-in policy counts. */
    policyFile: join(root, 'policy.yaml'),
    /** Runbooks of the operator's, one YAML file each. */
    runbooksDir: join(root, 'runbooks'),
    lockFile: join(root, 'supervisor.lock'),
    /** Where the supervisor is asked to do something: a socket. */
    doorFile: join(root, 'supervisor.sock'),
    endpointsFile: join(root, 'endpoints.json'),
    /** What was started, so that the next start can end what a killed supervisor left behind. */
    processesFile: join(root, 'processes.json'),
    nats: join(root, 'nats'),
    postgres: join(root, 'postgres'),
    seedFile: (user: string): string => join(keys, `${user}.seed`),
    secretFile: (name: string): string => join(keys, name),
    /** The keys of people and other systems that the bus lets in. */
    personSeedFile: (actorId: string): string => join(keys, 'people', `${actorId}.seed`),
    peopleKeys: join(keys, 'people'),
    /** Public keys and whom they stand for, written by the launcher for the registry. */
    actorsFile: join(keys, 'actors.json'),
    /** Secrets that a person gave the launcher in its environment, a file for each. */
    givenSecrets: join(keys, 'given'),
    givenSecretFile: (variable: string): string => join(keys, 'given', variable),
    logFile: (name: string): string => join(logs, `${name}.log`),
    deviceDir,
    deviceTokenFile: (deviceId: string): string => join(deviceDir(deviceId), 'token'),
    /** Values that its commands may be given by name; the operator puts them there. */
    deviceSecretsDir: (deviceId: string): string => join(deviceDir(deviceId), 'secrets'),
    /** What its client and its screen may write, where a device has a desktop: all else of its directory is given to it to read. */
    desktopDataDir: (deviceId: string): string => join(deviceDir(deviceId), 'data'),
    desktopScreenDir: (deviceId: string): string => join(deviceDir(deviceId), 'screen'),
    /** Where VNC servers of devices are, for the console. */
    screensFile: join(keys, 'screens.json'),
    /** Its own: written and read by the device client. */
    deviceIdentityFile: (deviceId: string): string => join(deviceDir(deviceId), 'identity.json'),
  };
}
