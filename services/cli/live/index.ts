/**
 * A run shown while it goes on, with what its tasks write. What is over is shown by the commands themselves.
 */
export { printAnswer, waitForEnd, watchRun } from './live.runner.js';
export { jsonPrinter, linePrinter, rawPrinter } from './output-printer.js';
export type { OutputPrinter } from './output-printer.js';
export { cleanOutput, outputLineText } from './output-text.js';
