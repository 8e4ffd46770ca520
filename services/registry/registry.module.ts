import { Inject, Module, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import {
  CLOCK,
  ConfigError,
  loadConfig,
  LOGGER,
  NATS,
  PlatformModule,
  POSTGRES,
  postgresModule,
  SERVICE_CONFIG,
  type Clock,
  type Postgres,
  type ServiceConfig,
} from '#libs/platform';
import { readSecret } from '#libs/keys';
import { DeviceEntity, DeviceRows } from './projections/index.js';
import { RegistryConfig } from './registry.config.js';
import { Registry } from './registry.runner.js';

@Module({
  imports: [PlatformModule.forService('registry'), postgresModule([DeviceEntity], 'registry')],
  providers: [
    {
      provide: Registry,
      inject: [NATS, CLOCK, LOGGER, SERVICE_CONFIG, POSTGRES],
      useFactory: async (
        nc: NatsConnection,
        clock: Clock,
        logger: Logger,
        { instance, nats }: ServiceConfig,
        postgres: Postgres,
      ) => {
        const config = loadConfig(RegistryConfig);
        const seed = await readSeed(nats.seedFile);
        return new Registry({ nc, clock, logger, instance, seed, ...config, stores: [new DeviceRows(postgres)] });
      },
    },
  ],
})
export class RegistryModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly registry: Registry;

  constructor(@Inject(Registry) registry: Registry) {
    this.registry = registry;
  }

  onApplicationBootstrap(): Promise<void> {
    return this.registry.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.registry.stop();
  }
}

/** Replicas without a common key would not know each other's credentials. */
async function readSeed(file: string | undefined): Promise<string> {
  const seed = file === undefined ? undefined : await readSecret(file);
  if (seed !== undefined) return seed;
  throw new ConfigError(
    'ORRERY_NATS_SEED_FILE must name the file with the seed of the registry: it signs the credentials of devices.',
  );
}
