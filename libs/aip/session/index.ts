/**
 * The service's end of a connection, for devices and for constellations: what is remembered of the peer, and what follows from
 * each of its messages.
 */
export * from './client-task.js';
export * from './constellation-server.js';
export * from './constellation-session.js';
export * from './device-server.js';
export type { EndpointWatch } from './server-endpoint.js';
export { NUMBERED_SINCE, type FileMessage, type OutputPiece, type WorkspaceMessage } from './session-state.js';
export type { RegisteredClient } from './telemetry.js';
export * from './tool-info.js';
