/**
 * AIP, the protocol between the service, its devices and the constellations that use it: both ends of a connection, commands,
 * files, and the socket under them. Nothing here knows of runs, of the bus or of a database; the shapes of the messages are in
 * `proto`.
 */
export * from './commands/index.js';
export * from './files/index.js';
export * from './frames/index.js';
export * from './link/index.js';
export * from './session/index.js';
export * from './transport/index.js';
