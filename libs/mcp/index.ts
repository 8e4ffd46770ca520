export type {
  CallOptions,
  ListedTool,
  ToolAnswer,
  ToolMeta,
  ToolOutput,
  ToolServerFact,
  ToolServerSpec,
} from './tool-server.js';
export { MCP_LIMITS } from './tool-server.js';
export { ToolClient, type ToolClientOptions } from './tool-client.js';
export {
  type Caller,
  serveTools,
  ToolFailure,
  type HostedTool,
  type HostOptions,
  type Tell,
  type ToolHost,
  ToolResult,
} from './tool-host.js';
