/**
 * The tools of this device over MCP: those of others from the configuration, and its own in a child process.
 */
export { ownServer } from './own-tools.adapter.js';
export { Toolbox } from './toolbox.client.js';
export type { BuiltInTools, ToolCall, ToolboxServer } from './toolbox.client.js';
