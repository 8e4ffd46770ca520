import 'reflect-metadata';
import { runService } from '#libs/platform';
import { OrchestratorModule } from './orchestrator.module.js';

await runService({ name: 'orchestrator', module: OrchestratorModule });
