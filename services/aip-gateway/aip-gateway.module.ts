import { Inject, Module, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { readSecret } from '#libs/keys';
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
import { AipServer } from './sockets/index.js';
import { ArtifactSweep, fileDesks, LargeFrameDesk } from './files/index.js';
import { ClientRuns, DeviceDirectory } from './clients/index.js';
import { gatewayMetrics } from './connection/index.js';
import { InjectionFile, PresenceBook } from './devices/index.js';
import { registryOnBus } from './identity/index.js';

/** The waiting answer leaves earlier than it is due: the caller's clock started before ours. */
const ANSWER_WITHIN_MS = LIMITS.commandAnswerMs - 1_000;

/** The file of injected parameters; null: none is named. */
const INJECTION = Symbol('INJECTION');

@Module({
  imports: [PlatformModule.forService('aip-gateway')],
  providers: [
    {
      provide: INJECTION,
      inject: [LOGGER],
      useFactory: async (logger: Logger): Promise<InjectionFile | null> => {
        const { injectFile } = loadConfig(AipGatewayConfig);
        return injectFile === undefined ? null : InjectionFile.open(injectFile, logger);
      },
    },
    {
      provide: AipServer,
      inject: [SERVICE_CONFIG, NATS, CLOCK, LOGGER, Metrics, INJECTION],
      useFactory: async (
        { bind, instance, nats: { seedFile } }: ServiceConfig,
        nc: NatsConnection,
        clock: Clock,
        logger: Logger,
        metrics: Metrics,
        injection: InjectionFile | null,
      ): Promise<AipServer> => {
        const { injectFile: _, ...options } = loadConfig(AipGatewayConfig);
        const shared = { nc, clock, logger, metrics: gatewayMetrics(metrics) };
        const around = {
          ...shared,
          instance,
          answerWithinMs: ANSWER_WITHIN_MS,
          fileDesk: fileDesks(shared),
          largeFrames: new LargeFrameDesk(nc, logger),
          ...(injection !== null && { injection }),
        };
        const seed = seedFile === undefined ? undefined : await readSecret(seedFile);
        const runs = new ClientRuns({ nc, seed, clock, logger });
        return new AipServer(
          { ...options, bind },
          {
            ...around,
            book: await PresenceBook.open(nc),
            clients: { runs, directory: await DeviceDirectory.open(nc) },
          },
          registryOnBus(nc),
        );
      },
    },
    {
      provide: ArtifactSweep,
      inject: [NATS, CLOCK, LOGGER],
      useFactory: (nc: NatsConnection, clock: Clock, logger: Logger) => new ArtifactSweep({ nc, clock, logger }),
    },
  ],
})
export class AipGatewayModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #server: AipServer;
  readonly #sweep: ArtifactSweep;
  readonly #ports: ServicePorts;
  readonly #injection: InjectionFile | null;

  constructor(
    @Inject(AipServer) server: AipServer,
    @Inject(ArtifactSweep) sweep: ArtifactSweep,
    @Inject(ServicePorts) ports: ServicePorts,
    @Inject(INJECTION) injection: InjectionFile | null,
  ) {
    this.#injection = injection;
    this.#server = server;
    this.#sweep = sweep;
    this.#ports = ports;
  }

  async onApplicationBootstrap(): Promise<void> {
    this.#ports.register('aip', await this.#server.start());
    this.#sweep.start();
    this.#injection?.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.#sweep.stop();
    this.#injection?.stop();
    await this.#server.stop();
  }
}
