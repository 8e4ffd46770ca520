/** A run as tools of MCP: what an assistant may read and change of it. Whether a change counts is the orchestrator's to say. */
export * from './desk.js';
export * from './server.js';
export { accessNeededFor, toolsFor, type Access } from './tools.js';
export * from './instructions.js';
export { cleanSnapshot, SNAPSHOT_BYTES_MAX } from './clean-snapshot.js';
export * from './live-constellation.js';
export * from './live-run.js';
export * from './bus-ports.js';
