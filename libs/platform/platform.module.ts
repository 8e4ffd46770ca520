import { Inject, Module, type DynamicModule, type FactoryProvider, type OnApplicationShutdown } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { LoggerModule } from 'nestjs-pino';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { openBus, type Bus } from './connections/index.js';
import { BusStrategy, type BusEvent, type Clock, systemClock } from '#libs/messaging';
import { ServicePorts, stopping } from './process/index.js';
import { loadConfig, ServiceConfig } from './config/index.js';
import { HealthController, HealthIndicators, createLogger, Metrics } from './watch/index.js';
import { CLOCK, INSTANCE, LOGGER, NATS, SERVICE_CONFIG, SERVICE_NAME } from './wiring/index.js';

const BUS = Symbol('BUS');
const modules = new Map<string, DynamicModule>();
const PROBES = new Set(['/healthz', '/readyz', '/metrics']);

/** Configuration and logger: what the others are made from. */
@Module({})
class IdentityModule {
  static forService(service: string): DynamicModule {
    return {
      module: IdentityModule,
      providers: [
        { provide: SERVICE_NAME, useValue: service },
        { provide: SERVICE_CONFIG, useFactory: () => loadConfig(ServiceConfig) },
        {
          provide: LOGGER,
          inject: [SERVICE_CONFIG],
          useFactory: ({ instance, logLevel }: ServiceConfig) => createLogger({ service, instance, level: logLevel }),
        },
      ],
      exports: [SERVICE_NAME, SERVICE_CONFIG, LOGGER],
    };
  }
}

/** What every service stands on: NATS and the transport of its messages, INSTANCE, CLOCK, LOGGER, SERVICE_CONFIG, health, metrics, ports. */
@Module({})
export class PlatformModule implements OnApplicationShutdown {
  readonly #bus: Bus;

  constructor(@Inject(BUS) bus: Bus) {
    this.#bus = bus;
  }

  /** The same module object for the same name: every importer shares one connection. */
  static forService(service: string): DynamicModule {
    const known = modules.get(service);
    if (known !== undefined) return known;
    const made = define(service);
    modules.set(service, made);
    return made;
  }

  /** The last thing of a shutdown: by then consumers have stopped and HTTP is closed. */
  onApplicationShutdown(): Promise<void> {
    return this.#bus.close();
  }
}

function define(service: string): DynamicModule {
  const identity = IdentityModule.forService(service);
  return {
    module: PlatformModule,
    imports: [
      identity,
      TerminusModule.forRoot({ logger: false }),
      LoggerModule.forRootAsync({ imports: [identity], inject: [LOGGER], useFactory: httpLogging }),
    ],
    controllers: [HealthController],
    providers: [
      { provide: CLOCK, useValue: systemClock },
      { provide: INSTANCE, inject: [SERVICE_CONFIG], useFactory: ({ instance }: ServiceConfig) => instance },
      { provide: Metrics, useFactory: () => new Metrics(service) },
      { provide: ServicePorts, useFactory: () => new ServicePorts() },
      { provide: HealthIndicators, useFactory: () => new HealthIndicators() },
      {
        provide: BUS,
        inject: [SERVICE_CONFIG, LOGGER, HealthIndicators],
        useFactory: async (config: ServiceConfig, logger: Logger, indicators: HealthIndicators) => {
          const bus = await openBus({ service, config, logger, signal: stopping.signal });
          indicators.register('nats', () => bus.check());
          return bus;
        },
      },
      { provide: NATS, inject: [BUS], useFactory: ({ nc }: Bus) => nc },
      busTransport(service),
    ],
    exports: [identity, NATS, BusStrategy, INSTANCE, CLOCK, Metrics, ServicePorts, HealthIndicators],
  };
}

/** Provides BusStrategy: what the handlers of a service are reached by. */
export function busTransport(service: string): FactoryProvider<BusStrategy> {
  return {
    provide: BusStrategy,
    inject: [NATS, CLOCK, LOGGER],
    useFactory: (nc: NatsConnection, clock: Clock, logger: Logger) =>
      new BusStrategy({ nc, service, clock, report: (event) => logEvent(logger, event) }),
  };
}

function logEvent(logger: Logger, event: BusEvent): void {
  const { kind, ...rest } = event;
  if (event.kind === 'interrupted') logger.warn({ durable: event.durable, err: event.error }, 'consumer: interrupted');
  else if (event.kind === 'failed') logger.error({ what: event.what, err: event.error }, 'it could not be answered');
  else if (kind === 'poison') logger.error(rest, 'consumer: poison');
  else logger.warn(rest, 'consumer: retry');
}

function httpLogging(logger: Logger): {
  pinoHttp: { logger: Logger; autoLogging: { ignore: (request: { url?: string | undefined }) => boolean } };
} {
  return { pinoHttp: { logger, autoLogging: { ignore: ({ url = '' }) => PROBES.has(url) } } };
}
