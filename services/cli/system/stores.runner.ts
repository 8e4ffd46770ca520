import {
  isPortFree,
  startNats,
  startPostgres,
  type NatsHandle,
  type NatsUser,
  type ServerHandle,
} from '#libs/embedded';
import type { Home } from '../home/index.js';
import { portChoice, type PortName } from '../processes/index.js';

const DATABASE = 'orrery';
const DATABASE_USER = 'orrery';

/** 0 lets the server find one, and lets a server that was left running keep its own. */
export async function portFor(name: PortName, env: NodeJS.ProcessEnv): Promise<number> {
  const choice = portChoice(name, env);
  if (choice.kind === 'any') return 0;
  if (choice.kind === 'wanted') return choice.port;
  return (await isPortFree(choice.port)) ? choice.port : 0;
}

/** A server that starts again keeps its ports: clients only know the address. */
export async function startBus(
  home: Home,
  { users, port, signal }: { users: readonly NatsUser[]; port: number; signal: AbortSignal },
  before?: NatsHandle,
): Promise<NatsHandle> {
  const ports =
    before === undefined ? { port } : { port: before.port, monitorPort: Number(new URL(before.monitorUrl).port) };
  return startNats({ storeDir: home.nats, users, signal, ...ports });
}

export async function startDatabase(
  home: Home,
  { password, port, signal }: { password: string; port: number; signal: AbortSignal },
  before?: ServerHandle,
): Promise<ServerHandle> {
  return startPostgres({
    dataDir: home.postgres,
    user: DATABASE_USER,
    password,
    database: DATABASE,
    signal,
    port: before?.port ?? port,
  });
}
