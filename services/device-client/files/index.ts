/**
 * Files that come to the device and leave it: where they may lie, and the transfers over the connection.
 */
export { deviceFiles, inputsDir } from './device-files.client.js';
export { FileLink } from './file-link.client.js';
export { StdinFiles } from './stdin-files.client.js';
