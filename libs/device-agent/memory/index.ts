/**
 * What an agent remembers: its steps, folded from recorded facts; notes that agents share; calls that were made before. No prompt is written here.
 */
export * from './blackboard.js';
export * from './memory.js';
export * from './repeats.js';
