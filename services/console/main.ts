import 'reflect-metadata';
import { runService } from '#libs/platform';
import { loadConsoleConfig } from './console.config.js';
import { ConsoleModule } from './console.module.js';
import { gate, readBody } from './http/index.js';

const { port, ...rules } = loadConsoleConfig();
await runService({
  name: 'console',
  module: ConsoleModule,
  port,
  configure: (app) => void app.use(gate(rules), readBody),
});
