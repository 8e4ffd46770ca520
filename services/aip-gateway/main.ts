import 'reflect-metadata';
import { collectBuffersEarly } from '#libs/aip';
import { runService } from '#libs/platform';
import { AipGatewayModule } from './aip-gateway.module.js';
import { AipSockets } from './sockets/index.js';

collectBuffersEarly();
void runService({
  name: 'aip-gateway',
  module: AipGatewayModule,
  configure: (app) => void app.useWebSocketAdapter(app.get(AipSockets)),
});
