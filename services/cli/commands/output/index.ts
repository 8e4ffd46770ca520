/** What tasks write: followed while they run, whole afterwards; and the content of artifacts. */
export * from './output.command.js';
