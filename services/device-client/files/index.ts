/** Files that come to the device and leave it: where they may lie, and the transfers over the connection. */
export * from './device-files.client.js';
export { FileLink } from './file-link.client.js';
export * from './stdin-files.client.js';
