import 'reflect-metadata';
import { runService } from '#libs/platform';
import { LoggingModule } from './logging.module.js';

await runService({ name: 'logging', module: LoggingModule });
