/** Files that come to the device and leave it: where they may lie, and the transfers over the connection. */
export * from './device-files.client.js';
export { diskFailure, FileLink, type FileErrand, type OpenSink } from './file-link.client.js';
export * from './file-target.adapter.js';
export { fileSourceOf, measuredFile } from './file-tools.adapter.js';
export { FILE_TOOL_LIMITS } from './file-tools.js';
export * from './open-directory.adapter.js';
export * from './stdin-files.client.js';
