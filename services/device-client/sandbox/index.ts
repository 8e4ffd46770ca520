/**
 * The wall around a command: what it may do and see is held by the kernel, whatever the policy understood of it. Which of two
 * programs makes it is chosen when the client starts; both pass the same tests.
 */
export * from './command-wall.js';
export * from './hidden-places.adapter.js';
export * from './namespaces.adapter.js';
export * from './sandbox.js';
export * from './sandboxes.js';
export * from './unnamed-file.adapter.js';
