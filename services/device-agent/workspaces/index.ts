/** The directories that runs have on devices: their ends are told here, and people look at them. Files are moved by attempts. */
export * from './run-ends.consumer.js';
export * from './run-workspaces.adapter.js';
export * from './workspaces.handler.js';
