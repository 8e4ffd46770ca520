/**
 * What an agent remembers: its steps, folded from recorded facts; notes that agents share; calls that were made before. No prompt is written here.
 */
export { Blackboard } from './blackboard.js';
export { Memory } from './memory.js';
export type { MemoryItem } from './memory.js';
export { Repeats, isFailing, outcomeText } from './repeats.js';
