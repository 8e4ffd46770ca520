import 'reflect-metadata';
import { runService } from '#libs/platform';
import { RegistryModule } from './registry.module.js';

await runService({ name: 'registry', module: RegistryModule });
