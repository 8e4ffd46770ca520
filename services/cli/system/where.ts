// Where the parts of a running system are. Pure, from what each has said.
import { withoutCredentials, type Endpoints, type Home } from '../home/index.js';
import type { BusAddress } from '../bus/index.js';
import type { Instance, PortName } from '../processes/index.js';
import type { SystemAddresses } from './environment.js';

export type BusOfSystem = Pick<SystemAddresses, 'natsUrl' | 'natsMonitorUrl' | 'foreignSeedFile'>;

export interface DatabaseOfSystem {
  /** Without its password, where it is ours. */
  readonly databaseUrl: string;
  readonly databasePasswordFile: string | undefined;
}

/** A service process that has said where it listens. */
export interface ReadyInstance extends Instance {
  readonly ports: Readonly<Record<string, number>>;
}

const OWN_PORTS: Readonly<Record<string, PortName>> = { console: 'console', 'aip-gateway': 'aip', planner: 'mcp' };

/** Where a service listens besides its health port. */
export function ownPort(service: string): PortName | undefined {
  return OWN_PORTS[service];
}

/** The bus as a user of this home, or on a bus that is not ours as the one user there is. */
export const addressOf = ({ natsUrl, foreignSeedFile }: BusOfSystem, home: Home, user: string): BusAddress => ({
  url: natsUrl,
  seedFile: foreignSeedFile ?? home.seedFile(user),
});

/** Where devices connect to; the first one is announced. */
export function gatewaysOf(ready: readonly ReadyInstance[], env: NodeJS.ProcessEnv): string[] {
  const scheme = (env['ORRERY_AIP_TLS_CERT_FILE'] ?? '') === '' ? 'ws' : 'wss';
  return portsOf(ready, 'aip-gateway').map((port) => `${scheme}://127.0.0.1:${port}/ws`);
}

/** What people and programs are told, without a password. */
export function endpointsOf(
  ready: readonly ReadyInstance[],
  {
    natsUrl,
    natsMonitorUrl,
    databaseUrl,
    env,
  }: BusOfSystem & Pick<DatabaseOfSystem, 'databaseUrl'> & { readonly env: NodeJS.ProcessEnv },
): Endpoints {
  const [aip = '', ...others] = gatewaysOf(ready, env);
  return {
    nats: natsUrl,
    ...(natsMonitorUrl === undefined ? {} : { natsMonitor: natsMonitorUrl }),
    postgres: withoutCredentials(databaseUrl),
    console: `http://127.0.0.1:${portsOf(ready, 'console')[0] ?? 0}`,
    ...((env['ORRERY_CONSOLE_URL'] ?? '') === '' ? {} : { consolePublic: env['ORRERY_CONSOLE_URL'] }),
    aip,
    ...((env['ORRERY_AIP_URL'] ?? '') === '' ? {} : { aipPublic: env['ORRERY_AIP_URL'] }),
    aips: [aip, ...others],
    mcp: `http://127.0.0.1:${portsOf(ready, 'planner')[0] ?? 0}/mcp`,
    health: Object.fromEntries(ready.map(({ name, ports }) => [name, `http://127.0.0.1:${ports['health'] ?? 0}`])),
  };
}

/** Where those of a service listen, the first one first. */
function portsOf(ready: readonly ReadyInstance[], service: string): number[] {
  return ready
    .filter((one) => one.service === service)
    .toSorted((a, b) => Number(b.first) - Number(a.first))
    .map(({ ports }) => ports[ownPort(service) ?? 'health'] ?? ports['health'] ?? 0);
}
