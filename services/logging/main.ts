import 'reflect-metadata';
import { PlatformModule, postgresModule, runService } from '#libs/platform';
import { ENTITIES, SCHEMA } from './entities/index.js';
import { LoggingModule } from './logging.module.js';

const imports = [PlatformModule.forService('logging'), postgresModule(ENTITIES, SCHEMA, { service: 'logging' })];
void runService({ name: 'logging', module: { module: LoggingModule, imports } });
