/**
 * What tasks write: followed while they run, whole afterwards; and the content of artifacts.
 */
export { defineArtifacts, defineOutput } from './output.command.js';
