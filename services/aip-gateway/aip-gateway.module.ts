import { Inject, Module, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import {
  CLOCK,
  loadConfig,
  LOGGER,
  Metrics,
  NATS,
  PlatformModule,
  SERVICE_CONFIG,
  ServicePorts,
  type Clock,
  type ServiceConfig,
} from '#libs/platform';
import { LIMITS } from '#proto';
import { AipGatewayConfig } from './aip-gateway.config.js';
import { AipServer } from './aip-server.gateway.js';
import { gatewayMetrics } from './gateway-metrics.adapter.js';
import { PresenceBook } from './presence.client.js';
import { registryAuthentication } from './registry.client.js';

/** The waiting answer leaves earlier than it is due: the caller's clock started before ours. */
const ANSWER_WITHIN_MS = LIMITS.commandAnswerMs - 1_000;

@Module({
  imports: [PlatformModule.forService('aip-gateway')],
  providers: [
    {
      provide: AipServer,
      inject: [SERVICE_CONFIG, NATS, CLOCK, LOGGER, Metrics],
      useFactory: async (
        { bind, instance }: ServiceConfig,
        nc: NatsConnection,
        clock: Clock,
        logger: Logger,
        metrics: Metrics,
      ): Promise<AipServer> => {
        const around = { nc, clock, logger, instance, answerWithinMs: ANSWER_WITHIN_MS };
        return new AipServer(
          { ...loadConfig(AipGatewayConfig), bind },
          { ...around, book: await PresenceBook.open(nc), metrics: gatewayMetrics(metrics) },
          registryAuthentication(nc),
        );
      },
    },
  ],
})
export class AipGatewayModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #server: AipServer;
  readonly #ports: ServicePorts;

  constructor(@Inject(AipServer) server: AipServer, @Inject(ServicePorts) ports: ServicePorts) {
    this.#server = server;
    this.#ports = ports;
  }

  async onApplicationBootstrap(): Promise<void> {
    this.#ports.register('aip', await this.#server.start());
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.#server.stop();
  }
}
