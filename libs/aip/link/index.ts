/** The dialling end of a connection, for devices and for constellations: registers, resumes, dials again. */
export * from './constellation-client.runner.js';
export * from './device-client.runner.js';
export type { ServerFacts, ServerRequest, Holdings } from './device-link.js';
export * from './server-connection.js';
