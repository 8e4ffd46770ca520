/** Commands found by their words, outputs, devices, people, codes and rules: rows with the words of a command, and reading them. */
export * from './search-reader.adapter.js';
export * from './search.projector.js';
