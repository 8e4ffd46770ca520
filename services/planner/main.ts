import 'reflect-metadata';
import { PlatformModule, runService } from '#libs/platform';
import { PlannerModule } from './planner.module.js';

const imports = [PlatformModule.forService('planner')];
void runService({ name: 'planner', module: { module: PlannerModule, imports } });
