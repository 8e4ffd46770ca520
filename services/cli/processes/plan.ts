// What an embedded system consists of, as data.
import { badInput } from '../terminal/index.js';

/** In the order they are started; they end in reverse. */
export const SERVICES = [
  'orchestrator',
  'registry',
  'aip-gateway',
  'device-agent',
  'planner',
  'logging',
  'console',
] as const;
export type ServiceName = (typeof SERVICES)[number];

/** Projections live there, and what the planner has learnt; the others never see the database's password. */
export const SERVICES_WITH_DATABASE: readonly ServiceName[] = ['registry', 'logging', 'planner'];

/** Those that ask models: nobody else gets the key. */
export const WITH_MODEL: readonly ServiceName[] = ['device-agent', 'planner'];

/** Ports people know; taken only when free, unless they are asked for by name. */
const PREFERRED_PORTS = { nats: 4222, postgres: 5432, console: 8080, aip: 5000, mcp: 8090 } as const;
export type PortName = keyof typeof PREFERRED_PORTS;

const PORT_VARIABLES: Readonly<Record<PortName, string>> = {
  nats: 'ORRERY_NATS_PORT',
  postgres: 'ORRERY_POSTGRES_PORT',
  console: 'ORRERY_CONSOLE_PORT',
  aip: 'ORRERY_AIP_PORT',
  mcp: 'ORRERY_MCP_PORT',
};
const PORT_MAX = 65_535;

/** `wanted`: exactly this one, or fail; `any`: whatever is free; `preferred`: this one if it is free. */
type PortChoice = { readonly kind: 'wanted' | 'preferred'; readonly port: number } | { readonly kind: 'any' };

export function portChoice(name: PortName, env: NodeJS.ProcessEnv): PortChoice {
  const variable = PORT_VARIABLES[name];
  const text = (env[variable] ?? '').trim();
  if (text === '') return { kind: 'preferred', port: PREFERRED_PORTS[name] };
  const port = /^\d{1,5}$/u.test(text) ? Number(text) : Number.NaN;
  if (!(port >= 0 && port <= PORT_MAX)) throw badInput(`${variable}: "${text}" is not a port; 0 is any free one.`);
  return port === 0 ? { kind: 'any' } : { kind: 'wanted', port };
}

/**
 * For the engine of a process. Without limits V8 lets the heap of a busy service grow to many times of what lives in it before
 * it collects. What lives in an orchestrator with 500 runs is about 50 MiB.
 */
export function heapFlags(service?: ServiceName): string[] {
  return [
    `--max-semi-space-size=${youngMib(service)}`,
    `--max-old-space-size=${service === 'device-agent' ? AGENTS_HEAP_MIB : HEAP_MIB}`,
  ];
}

/**
 * For the engine of a service that starts: it has at once the room for what is new that it would have after some seconds, as clearing it
 * away while the room grows takes an eighth of a start. A device has it only if it needs it: its machine is for others.
 */
export const startFlags = (service: ServiceName): string[] => [`--min-semi-space-size=${youngMib(service)}`];

const youngMib = (service?: ServiceName): number => (service === 'console' ? CONSOLE_YOUNG_MIB : YOUNG_MIB);

const YOUNG_MIB = 8;
/** What it sends to its viewers is garbage at once: cleared away in small portions it takes 35 MiB less, and events come no later. */
const CONSOLE_YOUNG_MIB = 2;

const HEAP_MIB = 512;
/** Two hundred attempts of agents fit into 300 MiB with it; a thousand at once were tried, and fit into the heap, too. */
const AGENTS_HEAP_MIB = 384;

/**
 * For the C library of a process, where that is glibc. What a service reads and sends lies in buffers outside of the heap; without these it
 * keeps the room of the largest ones for ever, for each of its threads.
 */
export const memoryVariables: Readonly<Record<string, string>> = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
};

export interface Instance {
  readonly service: ServiceName;
  /** Unique in the system: the service's name, with a number from the second one on. */
  readonly name: string;
  /** The first one of a service has the ports that are announced. */
  readonly first: boolean;
}

/** Every service process of a system. */
export function instancesOf(replicas: Readonly<Record<string, number>>): Instance[] {
  const unknown = Object.keys(replicas).find((name) => !SERVICES.some((service) => service === name));
  if (unknown !== undefined) {
    throw badInput(`--replicas: there is no service "${unknown}"; there are ${SERVICES.join(', ')}.`);
  }
  return SERVICES.flatMap((service) =>
    Array.from({ length: replicas[service] ?? 1 }, (_, index) => ({
      service,
      name: index === 0 ? service : `${service}-${index + 1}`,
      first: index === 0,
    })),
  );
}

export interface LocalDevice {
  readonly id: string;
  readonly tags: readonly string[];
  /** The kind of agent that does its tasks in words; the usual one without it. */
  readonly agent?: string;
  /** What its client keeps, where that is not its directory. */
  readonly dataDir?: string;
}

/** `web-1`, `db-1`, then `dev-3`, `dev-4`: the first two are the ones the examples speak of. */
export function localDevices(count: number): LocalDevice[] {
  const known: LocalDevice[] = [
    { id: 'web-1', tags: ['web'] },
    { id: 'db-1', tags: ['db'] },
  ];
  return Array.from({ length: count }, (_, index) => known[index] ?? { id: `dev-${index + 1}`, tags: [] });
}

export interface UpOptions {
  readonly devices: number;
  readonly replicas: Readonly<Record<string, number>>;
  readonly detach?: boolean | undefined;
  /** A device with a screen of its own, too. */
  readonly desktop?: boolean | undefined;
}
