/** The process around a service: how it begins, listens, learns of its end, and what time it is. */
export * from './ports.js';
export * from './stopping.js';
