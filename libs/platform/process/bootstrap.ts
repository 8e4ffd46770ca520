import { NestFactory } from '@nestjs/core';
import type { DynamicModule, INestApplication, Type } from '@nestjs/common';
import { Logger as NestLogger, PinoLogger } from 'nestjs-pino';
import type { Logger } from 'pino';
import { BusStrategy } from '#libs/messaging';
import { ConfigError, loadConfig, ServiceConfig } from '../config/index.js';
import { EarlyHttpAdapter } from './http-server.js';
import { createLogger, frameworkLogger } from '../watch/index.js';
import { ServicePorts } from './ports.js';
import { onStopSignal } from './shutdown.js';
import { stopping } from './stopping.js';

export interface ServiceOptions {
  readonly name: string;
  readonly module: Type | DynamicModule;
  /** Serve HTTP here instead of ORRERY_HEALTH_PORT; 0 is any free port. */
  readonly port?: number;
  /** Last touch before the application initialises, for example a WebSocket adapter. */
  readonly configure?: (app: INestApplication) => void | Promise<void>;
}

/**
 * The whole life of a service process: listens, waits for NATS, makes the service, tells the supervisor, and ends in
 * order on SIGTERM or SIGINT. What nobody caught is logged and ends the process with status 1: the supervisor restarts it.
 */
export async function runService(options: ServiceOptions): Promise<void> {
  const config = loadConfig(ServiceConfig);
  const logger = createLogger({ service: options.name, instance: config.instance, level: config.logLevel });
  failLoudly(logger);
  const adapter = new EarlyHttpAdapter();
  let app: INestApplication | undefined;
  onStopSignal(logger, async () => {
    stopping.abort();
    // Before it is ready it has taken nothing on; waiting for a server that may never come would only delay the exit.
    await (app ?? adapter).close();
  });
  try {
    app = await start(options, config, adapter, logger);
  } catch (error) {
    if (stopping.signal.aborted) return;
    if (error instanceof ConfigError) process.stderr.write(`${error.message}\n`);
    else logger.fatal({ err: error }, 'cannot start');
    process.exit(1);
  }
}

async function start(
  { name, module, port, configure }: ServiceOptions,
  config: ServiceConfig,
  adapter: EarlyHttpAdapter,
  logger: Logger,
): Promise<INestApplication> {
  const bound = await adapter.listenEarly(port ?? config.healthPort, config.bind);
  const framework = new PinoLogger({ pinoHttp: { logger: frameworkLogger(logger) } });
  const app = await NestFactory.create(module, adapter, {
    logger: new NestLogger(framework, {}),
    abortOnError: false,
    // Who takes bodies reads them within bounds of its own.
    bodyParser: false,
  });
  await configure?.(app);
  await serveMessages(app);
  adapter.serve();
  const ports = {
    health: bound,
    ...(port === undefined ? {} : { [name]: bound }),
    ...app.get(ServicePorts, { strict: false }).all(),
  };
  logger.info({ ports }, 'ready');
  process.send?.({ ready: true, ports });
  return app;
}

/** Begins with the parts, and then with the messages that they take. */
export async function serveMessages(app: INestApplication): Promise<void> {
  await app.init();
  app.connectMicroservice({ strategy: app.get(BusStrategy, { strict: false }) });
  await app.startAllMicroservices();
}

function failLoudly(logger: Logger): void {
  const fail = (error: unknown): never => {
    logger.fatal({ err: error }, 'nobody caught this');
    process.exit(1);
  };
  process.on('unhandledRejection', fail);
  process.on('uncaughtException', fail);
}
