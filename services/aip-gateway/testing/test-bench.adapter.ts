import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Kvm, type KV } from '@nats-io/kv';
import { createUser } from '@nats-io/nkeys';
import { errors, type NatsConnection } from '@nats-io/transport-node';
import { pino, type Logger } from 'pino';
import { busKeyOfSeed, readSecret } from '#libs/keys';
import { connectBus, natsUsers } from '#libs/messaging';
import { livenessPolicy } from '#libs/aip';
import { Metrics, ServicePorts, systemClock, type Clock } from '#libs/platform';
import { FakeDevice, type FakeDeviceOptions, moment, startTestNats, type TestNats } from '#libs/testing';
import { AIP_LIMITS, commandIdOf, DeviceAnswer, Presence, subjects } from '#proto';
import type { DeviceRequest, Identity, RunCommandRequest } from '#proto';
import { AIP_ENDPOINT, PLACE, type GatewayPlace } from '../aip-gateway.module.js';
import { gatewayMetrics } from '../connection/index.js';
import { parameterInjection, type InjectedParameters } from '../devices/parameter-injection.js';
import { registryOnBus, type RegistryPort } from '../identity/index.js';
import { AipSockets } from '../sockets/index.js';

/** What has an end is answered with it, however busy the machine is: a gateway says sooner that it still runs. */
const ANSWER_MS = 60_000;

/** Stands for the service's own module, which would read the environment. */
class BenchModule {}

export interface BenchGateway {
  readonly app: INestApplication;
  readonly sockets: AipSockets;
  readonly url: string;
  readonly nc: NatsConnection;
  readonly metrics: Metrics;
}

/** Tokens are `token-<device>` and `client-<constellation client>`, who may do everything; everything else is nobody's. */
const registry: RegistryPort = {
  identify: async (bearer): Promise<Identity | null> => {
    const [, kind, id = ''] = /^(token|client)-(.+)$/u.exec(bearer) ?? [];
    if (kind === undefined) return null;
    return { id, role: kind === 'token' ? 'device' : 'constellation', targets: null, expiresAt: null };
  },
  join: () => Promise.reject(new Error('nobody joins here')),
  renew: () => Promise.reject(new Error('nobody renews here')),
  revocations: async (after) => ({ sequence: after, revoked: [] }),
};

type EndpointOptions = Pick<
  GatewayPlace,
  'port' | 'bind' | 'origins' | 'connectionsMax' | 'tls' | 'liveness' | 'offerDir'
>;

const ENDPOINT: EndpointOptions = {
  port: 0,
  bind: '127.0.0.1',
  origins: ['https://console.example'],
  connectionsMax: 100,
  tls: undefined,
  offerDir: '/nonexistent',
  liveness: livenessPolicy(AIP_LIMITS.deadAfterMs),
};

interface GatewayOptions {
  readonly answerWithinMs?: number;
  /** A clock that a test may put forward. */
  readonly clock?: Clock;
  /** What of the registry is another one; or the registry on the bus, asked with the rights of a gateway. */
  readonly registry?: Partial<RegistryPort> | 'on the bus';
  readonly logger?: Logger;
  readonly endpoint?: Partial<EndpointOptions>;
  /** Parameters of foreign devices' tools. */
  readonly injected?: InjectedParameters;
}

/** A real nats-server, as many gateways and devices as a test asks for, and the device-agent's end of the bus. */
export class TestBench {
  readonly nats: TestNats;
  readonly caller: NatsConnection;
  readonly #gateways: BenchGateway[] = [];
  readonly #devices: FakeDevice[] = [];
  /** Looked into again and again, and opened once: that is a question of its own. */
  #presence: Promise<KV> | undefined;

  readonly #seeds: string;

  private constructor(nats: TestNats, caller: NatsConnection, seeds: string) {
    this.nats = nats;
    this.caller = caller;
    this.#seeds = seeds;
  }

  static async start(): Promise<TestBench> {
    const seeds = await mkdtemp(join(tmpdir(), 'orrery-test-keys-'));
    const users = await Promise.all(
      natsUsers().map(async (spec) => {
        const seed = new TextDecoder().decode(createUser().getSeed());
        await writeFile(join(seeds, spec.name), seed, { mode: 0o600 });
        return { ...spec, nkeyPublic: busKeyOfSeed(seed) };
      }),
    );
    const nats = await startTestNats({ users, provisioned: true });
    const caller = await busOf(nats.url, seeds, 'admin');
    return new TestBench(nats, caller, seeds);
  }

  /** Ends what the last test has left. */
  async clear(): Promise<void> {
    for (const device of this.#devices.splice(0)) device.cut();
    for (const { app, nc } of this.#gateways.splice(0)) {
      await app.close();
      await nc.drain();
    }
  }

  async stop(): Promise<void> {
    await this.caller.close();
    await this.nats.stop();
    await rm(this.#seeds, { recursive: true, force: true });
  }

  /** Another one on the bus, with the rights of this user; ended by who asked for it. */
  as(user: string): Promise<NatsConnection> {
    return busOf(this.nats.url, this.#seeds, user);
  }

  async gateway(overrides: GatewayOptions = {}): Promise<BenchGateway> {
    const { answerWithinMs = ANSWER_MS, clock = systemClock, logger = pino({ level: 'silent' }) } = overrides;
    const nc = await busOf(this.nats.url, this.#seeds, 'aip-gateway');
    const metrics = new Metrics('aip-gateway');
    const ports = new ServicePorts();
    const place: GatewayPlace = {
      ...ENDPOINT,
      ...overrides.endpoint,
      nc,
      clock,
      logger,
      answerWithinMs,
      instance: `gateway-${this.#gateways.length}`,
      seed: await readSecret(join(this.#seeds, 'aip-gateway')),
      metrics: gatewayMetrics(metrics),
      registry: overrides.registry === 'on the bus' ? registryOnBus(nc) : { ...registry, ...overrides.registry },
      injection: parameterInjection(overrides.injected ?? {}),
    };
    const given = [
      { provide: PLACE, useValue: place },
      { provide: ServicePorts, useValue: ports },
    ];
    const endpoint = { module: BenchModule, providers: [...given, ...AIP_ENDPOINT] };
    const app = await NestFactory.create(endpoint, { logger: false, abortOnError: false });
    const sockets = app.get(AipSockets);
    app.useWebSocketAdapter(sockets);
    await app.init().catch(async (error: unknown) => {
      await app.close();
      await nc.close();
      throw error;
    });
    const made = { app, sockets, nc, metrics, url: `ws://127.0.0.1:${ports.all()['aip']}/ws` };
    this.#gateways.push(made);
    return made;
  }

  /** As kill -9 does: its connection to the bus is cut first, so that PRESENCE stays as it is. */
  async kill({ nc, app }: BenchGateway): Promise<void> {
    this.#gateways.splice(
      this.#gateways.findIndex((gateway) => gateway.nc === nc),
      1,
    );
    await nc.close();
    await app.close();
  }

  /** A device that has registered. */
  async device(
    { url }: { url: string },
    deviceId: string,
    options: Partial<FakeDeviceOptions> = {},
  ): Promise<FakeDevice> {
    return this.keep(await FakeDevice.connect({ url, deviceId, token: `token-${deviceId}`, ...options }));
  }

  /** A socket that has not said a word. */
  async socket(
    { url }: { url: string },
    deviceId: string,
    options: Partial<FakeDeviceOptions> = {},
  ): Promise<FakeDevice> {
    return this.keep(await FakeDevice.dial({ url, deviceId, token: `token-${deviceId}`, ...options }));
  }

  /** As the device-agent does: nobody there yet is no answer. */
  async ask(request: DeviceRequest): Promise<DeviceAnswer> {
    for (;;) {
      try {
        const body = JSON.stringify(request);
        const answer = await this.caller.request(subjects.deviceCommand(request.deviceId), body, {
          timeout: ANSWER_MS + 5_000,
        });
        return DeviceAnswer.parse(answer.json());
      } catch (error) {
        if (!(error instanceof errors.RequestError && error.isNoResponders())) throw error;
      }
      await moment();
    }
  }

  async presenceOf(deviceId: string): Promise<Presence | null> {
    const entry = await (await (this.#presence ??= new Kvm(this.caller).open('PRESENCE'))).get(deviceId);
    return entry?.operation === 'PUT' ? Presence.parse(entry.json()) : null;
  }

  /** The session under which a device is shown; of another one than `before`, if given. */
  async sessionOf(deviceId: string, before?: string): Promise<string> {
    const passes = (held: Presence | null): boolean => held !== null && held.sessionId !== before;
    return (await until(() => this.presenceOf(deviceId), passes))?.sessionId ?? '';
  }

  keep(device: FakeDevice): FakeDevice {
    this.#devices.push(device);
    return device;
  }
}

/** With the rights that the user has in production, and no more. */
const busOf = (url: string, seeds: string, user: string): Promise<NatsConnection> =>
  connectBus({ url, name: user, inboxPrefix: `_INBOX_${user}`, seedFile: join(seeds, user) });

/** A request as the device-agent makes it, for the session that the device has now. */
export function run(to: FakeDevice, task: string, change: Partial<RunCommandRequest> = {}): RunCommandRequest {
  const attempt = { runId: 'run-1', taskId: task, attempt: 1 };
  return {
    kind: 'run',
    commandId: commandIdOf(attempt),
    attempt,
    deviceId: to.deviceId,
    sessionId: to.sessionId ?? 'none',
    journalId: to.journalId,
    command: { tool: 'EXEC_CLI', arguments: { command: 'true' } },
    priority: 0,
    notAfter: '2099-01-01T00:00:00.000Z',
    ...change,
  };
}

/** How many frames of this kind a gateway has seen. */
export async function framesSeen({ metrics }: BenchGateway, type: string): Promise<number> {
  const { values = [] } = (await metrics.registry.getSingleMetric('orrery_aip_frames_total')?.get()) ?? {};
  return values.reduce((sum, { labels, value }) => (labels['type'] === type ? sum + value : sum), 0);
}

/** A device that leaves every command to the test. */
export const NEVER = (): void => undefined;

/** Asks again until the answer passes; the test's own time limit ends it. */
export async function until<T>(read: () => Promise<T>, passes: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await read();
    if (passes(value)) return value;
    await moment();
  }
}
