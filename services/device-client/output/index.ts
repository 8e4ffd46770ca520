/**
 * What a command prints: live pieces, the head and the tail that are kept, whole files, and what fits into an outcome.
 */
export { OUTCOME_BYTES_MAX, fitJson, fitOutcome, valuesOf } from './fit.js';
export { HeadTail } from './head-tail.js';
export { OutputFeed } from './live-output.runner.js';
export { OUTPUT_FILES_META, OUTPUT_LIMITS, OutputFiles } from './output-files.js';
export type { OutputFile } from './output-files.js';
export { OutputSpool, clearOutputs, removeOutputs } from './output-spool.adapter.js';
export type { SpoolOptions } from './output-spool.adapter.js';
