import type { DynamicModule, FactoryProvider, INestApplication, Provider, Type } from '@nestjs/common';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { BusStrategy } from '#libs/messaging';
import type { Clock } from '#libs/platform';

export interface ReplicaOptions {
  readonly service: string;
  readonly nc: NatsConnection;
  readonly instance: string;
  readonly clock?: Clock;
  /** Silent when absent. */
  readonly logger?: Logger;
  /** In place of parts of the same name. */
  readonly providers?: Provider[];
}

/** A service in this process, put together as in its own and begun; what it stands on is given. */
export interface Replica {
  /** A part of it. */
  get<T>(part: { readonly prototype: T } | symbol): T;
  /** Ends in order; the connection stays. Safe to call twice. */
  stop(): Promise<void>;
}

/** Resolves when it takes messages. The framework is loaded only here: what needs no service does not pay for it. */
export async function startReplica(module: Type, options: ReplicaOptions): Promise<Replica> {
  const { NestFactory } = await import('@nestjs/core');
  const platform = await import('#libs/platform');
  const { service, nc, instance, clock = platform.systemClock, providers = [] } = options;
  const logger = options.logger ?? platform.createLogger({ service, instance, level: 'silent' });
  class Ground {}
  const given: Provider[] = [
    { provide: platform.NATS, useValue: nc },
    { provide: platform.INSTANCE, useValue: instance },
    { provide: platform.CLOCK, useValue: clock },
    { provide: platform.LOGGER, useValue: logger },
    { provide: platform.SERVICE_CONFIG, useFactory: () => platform.parseConfig(platform.ServiceConfig, {}) },
    { provide: platform.SERVICE_NAME, useValue: service },
    { provide: platform.POSTGRES, useValue: null },
    platform.Metrics,
    platform.ServicePorts,
    platform.HealthIndicators,
    platform.busTransport(service) satisfies FactoryProvider<BusStrategy>,
  ];
  const ground: DynamicModule = { module: Ground, providers: given, exports: given };
  const root: DynamicModule = { module, imports: [ground], providers };
  const app: INestApplication = await NestFactory.create(root, { logger: false, abortOnError: false });
  try {
    await platform.serveMessages(app);
  } catch (error) {
    await app.close();
    throw error;
  }
  let stopped: Promise<void> | undefined;
  return { get: (part) => app.get(part as symbol, { strict: false }), stop: () => (stopped ??= app.close()) };
}
