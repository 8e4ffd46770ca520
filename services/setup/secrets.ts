import { join } from 'node:path';
import { CONTAINER_NATS_FILES } from '#libs/embedded';

/** Those with metrics of their own. */
export const WITH_METRICS = [
  'orchestrator',
  'registry',
  'aip-gateway',
  'device-agent',
  'logging',
  'console',
  'planner',
] as const;

/** Who gets a directory of credentials. Each container mounts its own one and sees no other. */
export const OWNERS = [
  'nats',
  'postgres',
  ...WITH_METRICS,
  'cli',
  'admin',
  'external',
  'auditor',
  'devices',
  'people',
] as const;
export type Owner = (typeof OWNERS)[number];

/** Projections live in PostgreSQL, and what the planner has learnt; nobody else learns its password. */
export const WITH_DATABASE: readonly Owner[] = ['postgres', 'registry', 'logging', 'planner'];

/** Devices with a screen: where the VNC server of each is, as the console finds it. */
export const SCREENS = { 'desk-1': { host: 'desk-1-screen', port: 5900 } } as const;

/** Says one line to the person who sets up. */
export type Say = (line: string) => void;

export type Secrets = Readonly<ReturnType<typeof secretsAt>>;

/** The layout of the volume of secrets: a directory per owner, and nothing beside them. */
export function secretsAt(root: string) {
  const directory = (owner: string): string => join(root, owner);
  return {
    root,
    directory,
    seedFile: (user: string): string => join(directory(user), 'seed'),
    passwordFile: (user: string): string => join(directory(user), 'password'),
    databasePasswordFile: (owner: Owner): string => join(directory(owner), 'database-password'),
    natsConfigFile: join(directory('nats'), CONTAINER_NATS_FILES.config),
    natsUsersFile: join(directory('nats'), CONTAINER_NATS_FILES.users),
    /** Keys of people and other systems that the bus lets in, besides its own users. */
    peopleKeys: directory('people'),
    /** Where screens are, and the password of each: for the console, and for the device itself. */
    screensFile: join(directory('console'), 'screens.json'),
    screenPasswordFile: (owner: 'console' | 'device', deviceId: string): string =>
      owner === 'console'
        ? join(directory('console'), `${deviceId}.view`)
        : join(directory('devices'), deviceId, 'view'),
    /** Of the console at its identity provider; given by the operator. */
    oidcSecretFile: join(directory('console'), 'oidc-client-secret'),
    /** Public keys and whom they stand for, handed from the step that sees all keys to the registry, which makes facts of it. */
    actorsFile: join(directory('registry'), 'actors.json'),
    /** For who collects metrics; services have its hash. */
    metricsTokenFile: join(directory('admin'), 'metrics-token'),
    metricsTokenHashFile: (owner: Owner): string => join(directory(owner), 'metrics-token.sha256'),
    adminTokenHashFile: join(directory('console'), 'admin-token.sha256'),
  };
}
