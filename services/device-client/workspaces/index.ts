/** The directories of runs on this device: made, listed and removed, and what moves their files. */
export * from './workspace-tools.client.js';
export * from './workspaces.adapter.js';
