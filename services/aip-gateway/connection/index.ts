/** What a connection is to the server that accepted it, whatever its role, and what the gateway counts. No connection is made here. */
export * from './connection.js';
export * from './gateway-metrics.adapter.js';
