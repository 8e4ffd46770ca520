/**
 * A file in pieces over one connection: sender, receiver, and the pump between them and a disk. Which file may go where is
 * decided by those who use it.
 */
export * from './digest.adapter.js';
export * from './file-memory.adapter.js';
export * from './file-pump.adapter.js';
export * from './file-transfer.js';
