/** What an agent wants done in the world, and what it is told of it. Nobody here carries anything out. */
export * from './effect.js';
