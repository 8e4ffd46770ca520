import 'reflect-metadata';
import { runService } from '#libs/platform';
import { loadConsoleConfig } from './console.config.js';
import { ConsoleModule } from './console.module.js';
import { Admission, gate } from './http/index.js';

const { port, ...rules } = loadConsoleConfig();
await runService({
  name: 'console',
  module: ConsoleModule,
  port,
  configure: (app) => {
    const { admit, readBody } = app.get(Admission);
    app.use(gate(rules), admit, readBody);
  },
});
