/** The tools of this device over MCP: those of others from the configuration, and its own in a child process. */
export * from './own-tools.adapter.js';
export * from './toolbox.client.js';
