import 'reflect-metadata';
import { runService } from '#libs/platform';
import { PlannerModule } from './planner.module.js';

await runService({ name: 'planner', module: PlannerModule });
