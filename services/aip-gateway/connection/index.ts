/**
 * What a connection is to the server that accepted it, whatever its role, and what the gateway counts. No connection is made here.
 */
export type { Connection } from './connection.js';
export { gatewayMetrics } from './gateway-metrics.adapter.js';
export type { GatewayMetrics } from './gateway-metrics.adapter.js';
