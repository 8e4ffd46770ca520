import { Inject, Module, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { PlatformModule, runService, ServicePorts } from './index.js';

/** A service that does nothing but what its test asks for in SAMPLE. */
@Module({ imports: [PlatformModule.forService('sample')] })
class SampleModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #ports: ServicePorts;

  constructor(@Inject(ServicePorts) ports: ServicePorts) {
    this.#ports = ports;
  }

  async onApplicationBootstrap(): Promise<void> {
    this.#ports.register('aip', 5_000);
    if (process.env['SAMPLE'] === 'reject') void Promise.reject(new Error('nobody is looking'));
  }

  async beforeApplicationShutdown(): Promise<void> {
    if (process.env['SAMPLE'] === 'hang') await new Promise(() => undefined);
  }
}

await runService({ name: 'sample', module: SampleModule, ...(process.env['SAMPLE'] === 'port' ? { port: 0 } : {}) });
