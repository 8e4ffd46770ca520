import { startTestBus } from '#libs/testing';
import { busDriver } from '../bus-driver.js';
import type { Driver } from '../driver.js';
import type { Account } from '../lab.js';
import type { RunOptions } from '../run-checks.js';
import { RegistryStandIn } from './registry-stand-in.js';
import { startService, type Service } from './service.js';

/** Devices of the stand: as many checks run side by side. */
const DEVICES = 12;
const CONSTELLATIONS = 6;

export interface Gateway {
  readonly pid: number;
  readonly options: Omit<RunOptions, 'onResult'>;
  /** A gateway that has died on the way has failed, whatever the checks say. */
  readonly hasEnded: () => boolean;
  /** Its figures without labels, by name. */
  metrics(): Promise<ReadonlyMap<string, number>>;
  stop(): Promise<void>;
}

export interface GatewayOptions {
  /** A gateway that is run in the place of the one that was built of this tree, and what it is told. */
  readonly program?: string | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly answerMs?: number;
  readonly taskMs?: number;
  /** Gateways that are checked at the same time have devices of their own: which of how many. */
  readonly lane?: { readonly index: number; readonly of: number };
}

/** Everything around gateways: a bus, those who may connect, and with `executes` the services that carry tasks out. */
export interface Stand {
  gateway(options?: GatewayOptions): Promise<Gateway>;
  stop(): Promise<void>;
}

const ANSWER_MS = 5_000;
const TASK_MS = 30_000;
const WHOLE = { index: 0, of: 1 };

export interface StandOptions {
  readonly executes: boolean;
  /** As of the driver. */
  readonly patienceMs?: number;
}

export async function startStand({ executes, patienceMs }: StandOptions): Promise<Stand> {
  const bus = await startTestBus();
  const registry = new RegistryStandIn();
  await registry.start(await bus.as('registry'));
  const admit = (role: 'device' | 'constellation', count: number): Account[] =>
    Array.from({ length: count }, (_, index) => registry.admit(role, `${role}-${index + 1}`));
  const accounts = { devices: admit('device', DEVICES), constellations: admit('constellation', CONSTELLATIONS) };
  const { url: natsUrl, monitorUrl } = bus.server;
  const env = { ORRERY_NATS_URL: natsUrl, ORRERY_NATS_MONITOR_URL: monitorUrl, ORRERY_AIP_PORT: '0' };
  const start = (
    name: string,
    { program, env: more }: Pick<GatewayOptions, 'program' | 'env'> = {},
  ): Promise<Service> =>
    startService({ name, program, env: { ...env, ORRERY_NATS_SEED_FILE: bus.seedFile(name), ...more } });
  const behind = executes ? await Promise.all(['orchestrator', 'device-agent'].map((name) => start(name))) : [];
  const driver: Driver = await busDriver({ url: natsUrl, seedFile: bus.seedFile('admin'), patienceMs });
  return {
    gateway: async ({ answerMs = ANSWER_MS, taskMs = TASK_MS, lane = WHOLE, program, env: more } = {}) => {
      const service = await start('aip-gateway', { program, env: more });
      const url = `ws://127.0.0.1:${service.ports['aip'] ?? 0}/ws`;
      const target = { url, answerMs, taskMs, driver, revoker: registry };
      const own = <T>(all: readonly T[]): T[] => all.filter((_, index) => index % lane.of === lane.index);
      const mine = { devices: own(accounts.devices), constellations: own(accounts.constellations) };
      return {
        pid: service.pid,
        options: { target, ...mine, executes },
        hasEnded: service.hasEnded,
        metrics: () => metricsOf(`http://127.0.0.1:${service.ports['health'] ?? 0}/metrics`),
        stop: () => service.stop(),
      };
    },
    stop: async () => {
      await driver.close();
      await Promise.all(behind.map((service) => service.stop()));
      await registry.stop();
      await bus.stop();
    },
  };
}

async function metricsOf(url: string): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(url)).text();
  const figures = text.split('\n').flatMap((line): [string, number][] => {
    const [, name, value] = FIGURE.exec(line) ?? [];
    return name === undefined ? [] : [[name, Number(value)]];
  });
  return new Map(figures);
}

/** Labels are left out: where there are several figures of a name the last one stays. */
const FIGURE = /^([a-z_]+)(?:\{[^}]*\})? ([0-9.e+-]+)$/u;
