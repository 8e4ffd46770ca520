/** Settings of a service, read from its environment and checked before anything starts. Settings of one service alone are its own. */
export * from './config.js';
export * from './database-url.js';
export * from './loopback.js';
export * from './service-config.js';
export * from './token-hash.js';
