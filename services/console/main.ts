import 'reflect-metadata';
import { runService } from '#libs/platform';
import { loadConsoleConfig } from './console.config.js';
import { ConsoleModule } from './console.module.js';
import { openDoor } from './http/index.js';
import { openLive } from './live/index.js';
import { openScreens } from './screens/index.js';

void runService({
  name: 'console',
  module: ConsoleModule,
  port: loadConsoleConfig().port,
  configure: (app) => {
    openDoor(app);
    openLive(app);
    openScreens(app);
  },
});
