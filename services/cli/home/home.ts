import { join, resolve } from 'node:path';

/** The SHA-256 of the administrator's token: the console lets in who knows the token. */
export const ADMIN_TOKEN_HASH = 'admin-token.sha256';

/** Where everything of one embedded system lies. Two systems are two of these. */
export interface Home {
  readonly root: string;
  readonly lockFile: string;
  readonly endpointsFile: string;
  /** What was started, so that the next start can end what a killed supervisor left behind. */
  readonly processesFile: string;
  readonly keys: string;
  readonly logs: string;
  readonly nats: string;
  readonly postgres: string;
  readonly devices: string;
  /** What agents may do on devices; the operator writes it, or the built-in policy counts. */
  readonly policyFile: string;
  /** Runbooks of the operator's, one YAML file each. */
  readonly runbooksDir: string;
  readonly seedFile: (user: string) => string;
  readonly secretFile: (name: string) => string;
  readonly logFile: (name: string) => string;
  readonly deviceDir: (deviceId: string) => string;
  readonly deviceTokenFile: (deviceId: string) => string;
  /** Values that its commands may be given by name; the operator puts them there. */
  readonly deviceSecretsDir: (deviceId: string) => string;
  /** Its own: written and read by the device client. */
  readonly deviceIdentityFile: (deviceId: string) => string;
}

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

export function homeAt(root: string): Home {
  const keys = join(root, 'keys');
  const logs = join(root, 'logs');
  const devices = join(root, 'devices');
  return {
    root,
    keys,
    logs,
    devices,
    policyFile: join(root, 'policy.yaml'),
    runbooksDir: join(root, 'runbooks'),
    lockFile: join(root, 'supervisor.lock'),
    endpointsFile: join(root, 'endpoints.json'),
    processesFile: join(root, 'processes.json'),
    nats: join(root, 'nats'),
    postgres: join(root, 'postgres'),
    seedFile: (user) => join(keys, `${user}.seed`),
    secretFile: (name) => join(keys, name),
    logFile: (name) => join(logs, `${name}.log`),
    deviceDir: (deviceId) => join(devices, deviceId),
    deviceTokenFile: (deviceId) => join(devices, deviceId, 'token'),
    deviceSecretsDir: (deviceId) => join(devices, deviceId, 'secrets'),
    deviceIdentityFile: (deviceId) => join(devices, deviceId, 'identity.json'),
  };
}
