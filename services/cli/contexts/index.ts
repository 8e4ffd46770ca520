/** Systems by name: which there are, which one a command line is about. Where a key lies is written down, never the key. */
export * from './context-choice.js';
export * from './contexts.adapter.js';
