import 'reflect-metadata';
import { PlatformModule, postgresModule, runService } from '#libs/platform';
import { DeviceEntity } from './projections/index.js';
import { RegistryModule } from './registry.module.js';

const imports = [PlatformModule.forService('registry'), postgresModule([DeviceEntity], 'registry')];
void runService({ name: 'registry', module: { module: RegistryModule, imports } });
