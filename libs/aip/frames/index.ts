/** One frame: read, checked, numbered, counted, permitted. Nothing here remembers a session. */
export * from './binary-piece.js';
export * from './complaints.js';
export * from './decode.js';
export * from './encode.js';
export * from './middleware.js';
export * from './permissions.js';
export * from './rate.js';
export * from './sequence.js';
export * from './unreadable-task.js';
