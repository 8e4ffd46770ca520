/**
 * The records of a run judged: what was altered, left out or made up. It folds what the cores fold, asks nobody and prints nothing; the words
 * for a person are of the command `verify`.
 */
export { auditChain, CHAIN_STREAMS, type ChainStream } from './audit-attention.js';
export { forkOf } from './audit-fork.js';
export * from './audit-run.js';
export * from './export-file.js';
export { findingText } from './findings.js';
export { storedRecords, type ReadRecords } from './signed-facts.js';
