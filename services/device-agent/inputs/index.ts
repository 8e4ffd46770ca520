/**
 * What commands and agents read of results, and what an event holds of an answer: places, windows, standard input, artifacts. Nothing is
 * recorded here.
 */
export {
  ARTIFACTS,
  artifactsOn,
  preparedCommand,
  wholeOf,
  type Artifacts,
  type InputSources,
} from './inputs.adapter.js';
export * from './board.client.js';
export * from './outcome-ending.adapter.js';
export { readAgentInputs, readInputLines } from './read-input.adapter.js';
export * from './read-output.adapter.js';
export * from './shown-place.adapter.js';
export { readFileSources, storedBytes, storedFiles } from './task-files.adapter.js';
