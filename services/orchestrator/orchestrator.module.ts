import { Inject, Module, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { CLOCK, type Clock, INSTANCE, loadConfig, LOGGER, NATS, PlatformModule } from '#libs/platform';
import { OrchestratorConfig } from './orchestrator.config.js';
import { Orchestrator } from './orchestrator.runner.js';

const ORCHESTRATOR = Symbol('ORCHESTRATOR');

@Module({
  imports: [PlatformModule.forService('orchestrator')],
  providers: [
    {
      provide: ORCHESTRATOR,
      inject: [NATS, CLOCK, INSTANCE, LOGGER],
      useFactory: (nc: NatsConnection, clock: Clock, instance: string, logger: Logger) =>
        new Orchestrator({ nc, clock, instance, logger, ...loadConfig(OrchestratorConfig) }),
    },
  ],
})
export class OrchestratorModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #orchestrator: Orchestrator;

  constructor(@Inject(ORCHESTRATOR) orchestrator: Orchestrator) {
    this.#orchestrator = orchestrator;
  }

  onApplicationBootstrap(): Promise<void> {
    return this.#orchestrator.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.#orchestrator.stop();
  }
}
