/**
 * The process around a service: how it begins, listens, learns of its end, and what time it is.
 */
export { ServicePorts } from './ports.js';
export { stopping } from './stopping.js';
