import { Inject, Module, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import {
  CLOCK,
  INSTANCE,
  loadConfig,
  LOGGER,
  NATS,
  PlatformModule,
  POSTGRES,
  postgresModule,
  type Clock,
  type Postgres,
} from '#libs/platform';
import { DeviceEntity } from './device.entity.js';
import { DeviceRows } from './device-rows.adapter.js';
import { RegistryConfig } from './registry.config.js';
import { Registry } from './registry.runner.js';

@Module({
  imports: [PlatformModule.forService('registry'), postgresModule([DeviceEntity], 'registry')],
  providers: [
    {
      provide: Registry,
      inject: [NATS, CLOCK, LOGGER, INSTANCE, POSTGRES],
      useFactory: (nc: NatsConnection, clock: Clock, logger: Logger, instance: string, postgres: Postgres) => {
        const { graceMs } = loadConfig(RegistryConfig);
        return new Registry({ nc, clock, logger, instance, graceMs, stores: [new DeviceRows(postgres)] });
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
