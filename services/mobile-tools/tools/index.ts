/** The tools, and what stands between them and the phone. */
export * from './mobile-tools.runner.js';
