/**
 * What commands and agents read of results, and what an event holds of an answer: places, windows, standard input, artifacts. Nothing is
 * recorded here.
 */
export { ARTIFACTS, artifactsOn, preparedCommand, type Artifacts } from './inputs.adapter.js';
export * from './outcome-ending.adapter.js';
export { readAgentInputs, readInputLines } from './read-input.adapter.js';
export * from './read-output.adapter.js';
