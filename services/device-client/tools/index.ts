/** The tools of this device over MCP: those of others from the configuration, and its own in a child process. */
export * from './desktop-tools.adapter.js';
export * from './mobile-tools.adapter.js';
export { ownServer } from './own-tools.adapter.js';
export * from './toolbox.client.js';
