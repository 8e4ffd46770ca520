import { Inject, Module, type DynamicModule, type FactoryProvider, type OnApplicationShutdown } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { LoggerModule } from 'nestjs-pino';
import type { Logger } from 'pino';
import { openBus, type Bus } from './connections/index.js';
import { BusStrategy, type BusEvent, systemClock } from '#libs/messaging';
import { ServicePorts, stopping } from './process/index.js';
import { loadConfig, readTokenHash, ServiceConfig } from './config/index.js';
import { HealthController, HealthIndicators, createLogger, Metrics, MetricsAccess } from './watch/index.js';
import { CLOCK, INSTANCE, LOGGER, NATS, part, SERVICE_CONFIG, SERVICE_NAME, token } from './wiring/index.js';

const BUS = token<Bus>('BUS');
const modules = new Map<string, DynamicModule>();
const PROBES = new Set(['/healthz', '/readyz', '/metrics']);

/** Configuration and logger: what the others are made from. */
@Module({})
class IdentityModule {
  static forService(service: string): DynamicModule {
    return {
      module: IdentityModule,
      providers: [
        part(SERVICE_NAME, [], () => service),
        part(SERVICE_CONFIG, [], () => loadConfig(ServiceConfig)),
        part(LOGGER, [SERVICE_CONFIG], ({ instance, logLevel }) =>
          createLogger({ service, instance, level: logLevel }),
        ),
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
      part(CLOCK, [], () => systemClock),
      part(INSTANCE, [SERVICE_CONFIG], ({ instance }) => instance),
      part(Metrics, [], () => new Metrics(service)),
      part(
        MetricsAccess,
        [SERVICE_CONFIG],
        ({ metricsTokenFile: file }) =>
          new MetricsAccess(file === undefined ? undefined : readTokenHash('ORRERY_METRICS_TOKEN_FILE', file)),
      ),
      ServicePorts,
      HealthIndicators,
      part(BUS, [SERVICE_CONFIG, LOGGER, HealthIndicators], async (config, logger, indicators) => {
        const bus = await openBus({ service, config, logger, signal: stopping.signal });
        indicators.register('nats', () => bus.check());
        indicators.register('storage', () => bus.checkStore());
        return bus;
      }),
      part(NATS, [BUS], ({ nc }) => nc),
      busTransport(service),
    ],
    exports: [identity, NATS, BusStrategy, INSTANCE, CLOCK, Metrics, ServicePorts, HealthIndicators],
  };
}

/** Provides BusStrategy: what the handlers of a service are reached by. */
export function busTransport(service: string): FactoryProvider<BusStrategy> {
  return part(BusStrategy, [NATS, CLOCK, LOGGER, HealthIndicators], (nc, clock, logger, indicators) => {
    const bus = new BusStrategy({ nc, service, clock, report: (event) => logEvent(logger, event) });
    indicators.register('messages', () => bus.check());
    return bus;
  });
}

function logEvent(logger: Logger, event: BusEvent): void {
  const { kind, ...rest } = event;
  if (event.kind === 'interrupted') logger.warn({ durable: event.durable, err: event.error }, 'consumer: interrupted');
  else if (event.kind === 'lost')
    logger.error({ what: event.what, err: event.error }, 'the bus: nothing comes any more');
  else if (event.kind === 'failed') logger.error({ what: event.what, err: event.error }, 'it could not be answered');
  else if (kind === 'poison') logger.error(rest, 'consumer: poison');
  else logger.warn(rest, 'consumer: retry');
}

function httpLogging(logger: Logger): {
  pinoHttp: { logger: Logger; autoLogging: { ignore: (request: { url?: string | undefined }) => boolean } };
} {
  // What a browser brings back from an identity provider stands in its address.
  const ignore = ({ url = '' }): boolean => PROBES.has(url) || url.startsWith('/login/');
  return { pinoHttp: { logger, autoLogging: { ignore } } };
}
