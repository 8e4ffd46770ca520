/**
 * The client as a guest of a machine: where its files lie, what starts it there, how it gives way to a newer release, and how it leaves.
 * What it does for a server is a matter of `connection`.
 */
export * from './install.runner.js';
export * from './installed.adapter.js';
export * from './leave.runner.js';
export * from './tell.runner.js';
export * from './upgrade.client.js';
