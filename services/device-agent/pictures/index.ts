/** Pictures of screens that are kept no longer once their run has ended. */
export * from './run-pictures.adapter.js';
