export { DeskError, type ConstellationDesk, type DeskAnswer } from './desk.js';
export { constellationServer, type McpServerOptions } from './server.js';
export { accessNeededFor, READ_TOOL, toolsFor, type Access } from './tools.js';
export { instructionsFor } from './instructions.js';
export { cleanSnapshot, SNAPSHOT_BYTES_MAX } from './clean-snapshot.js';
export { LiveConstellation, type LivePorts } from './live-constellation.js';
export { busPorts, type BusPortsOptions } from './bus-ports.js';
