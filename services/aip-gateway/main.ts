import 'reflect-metadata';
import { runService } from '#libs/platform';
import { AipGatewayModule } from './aip-gateway.module.js';
import { AipSockets } from './sockets/index.js';

void runService({
  name: 'aip-gateway',
  module: AipGatewayModule,
  configure: (app) => void app.useWebSocketAdapter(app.get(AipSockets)),
});
