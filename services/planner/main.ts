import 'reflect-metadata';
import { PlatformModule, runService } from '#libs/platform';
import { PlannerModule } from './planner.module.js';

const imports = [PlatformModule.forService('planner')];
await runService({ name: 'planner', module: { module: PlannerModule, imports } });
