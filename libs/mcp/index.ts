/**
 * Tools over MCP: a client of one tool server, and a host that serves tools of ours. Which tools there are, and who may call them,
 * is decided by those who use it.
 */
export * from './tool-client.js';
export * from './tool-host.js';
export * from './tool-server.js';
