/** A run shown while it goes on, with what its tasks write. What is over is shown by the commands themselves. */
export { shownAgain } from './list.runner.js';
export * from './live.runner.js';
export * from './output-printer.js';
export { cleanOutput, outputLineText, paintOutput } from './output-text.js';
