import 'reflect-metadata';
import { PlatformModule, runService } from '#libs/platform';
import { DeviceAgentModule } from './device-agent.module.js';

const imports = [PlatformModule.forService('device-agent')];
void runService({ name: 'device-agent', module: { module: DeviceAgentModule, imports } });
