import 'reflect-metadata';
import { PlatformModule, runService } from '#libs/platform';
import { OrchestratorModule } from './orchestrator.module.js';

const imports = [PlatformModule.forService('orchestrator')];
void runService({ name: 'orchestrator', module: { module: OrchestratorModule, imports } });
