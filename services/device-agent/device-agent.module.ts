import { Inject, Module, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import { CLOCK, INSTANCE, loadConfig, LOGGER, Metrics, NATS, PlatformModule, type Clock } from '#libs/platform';
import { agentRecords, loadAgentKit } from './agents/index.js';
import { SERVICE } from './live/index.js';
import { DeviceAgentConfig } from './device-agent.config.js';
import { startDeviceAgent, type DeviceAgent, type DeviceAgentOptions } from './device-agent.runner.js';

const OPTIONS = Symbol('OPTIONS');

@Module({
  imports: [PlatformModule.forService(SERVICE)],
  providers: [
    {
      provide: OPTIONS,
      inject: [NATS, INSTANCE, CLOCK, LOGGER, Metrics],
      useFactory: async (
        nc: NatsConnection,
        instance: string,
        clock: Clock,
        logger: Logger,
        metrics: Metrics,
      ): Promise<DeviceAgentOptions> => {
        const config = loadConfig(DeviceAgentConfig);
        const kit = await loadAgentKit(config, process.env, agentRecords(logger, metrics));
        return { nc, instance, clock, logger, ...config, ...kit };
      },
    },
  ],
})
export class DeviceAgentModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #options: DeviceAgentOptions;
  readonly #metrics: Metrics;
  #agent: DeviceAgent | undefined;

  constructor(@Inject(OPTIONS) options: DeviceAgentOptions, @Inject(Metrics) metrics: Metrics) {
    this.#options = options;
    this.#metrics = metrics;
  }

  onApplicationBootstrap(): void {
    const agent = startDeviceAgent(this.#options);
    this.#agent = agent;
    const gauge = this.#metrics.gauge('attempts_live', 'Attempts that this replica is carrying out');
    Object.assign(gauge, { collect: () => gauge.set(agent.attempts) });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.#agent?.stop();
  }
}
