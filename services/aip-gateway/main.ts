import 'reflect-metadata';
import { runService } from '#libs/platform';
import { AipGatewayModule } from './aip-gateway.module.js';

await runService({ name: 'aip-gateway', module: AipGatewayModule });
