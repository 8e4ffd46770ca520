import 'reflect-metadata';
import { runService } from '#libs/platform';
import { DeviceAgentModule } from './device-agent.module.js';

await runService({ name: 'device-agent', module: DeviceAgentModule });
